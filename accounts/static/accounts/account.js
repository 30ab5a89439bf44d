/* Passkeys, and a look at the password that one types. */

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const credentials = (list) => list?.map((one) => ({ ...one, id: bytes(one.id) }));

async function create({ publicKey }) {
  const made = await navigator.credentials.create({
    publicKey: {
      ...publicKey,
      challenge: bytes(publicKey.challenge),
      user: { ...publicKey.user, id: bytes(publicKey.user.id) },
      excludeCredentials: credentials(publicKey.excludeCredentials),
    },
  });
  const { attestationObject, clientDataJSON } = made.response;
  return {
    ...common(made),
    response: {
      attestationObject: text(attestationObject),
      clientDataJSON: text(clientDataJSON),
      transports: made.response.getTransports?.() ?? [],
    },
  };
}

async function get({ publicKey }) {
  const found = await navigator.credentials.get({
    publicKey: {
      ...publicKey,
      challenge: bytes(publicKey.challenge),
      allowCredentials: credentials(publicKey.allowCredentials),
    },
  });
  const { authenticatorData, clientDataJSON, signature, userHandle } = found.response;
  return {
    ...common(found),
    response: {
      authenticatorData: text(authenticatorData),
      clientDataJSON: text(clientDataJSON),
      signature: text(signature),
      userHandle: userHandle ? text(userHandle) : null,
    },
  };
}

const common = (credential) => ({
  type: credential.type,
  id: credential.id,
  rawId: text(credential.rawId),
  authenticatorAttachment: credential.authenticatorAttachment,
  clientExtensionResults: credential.getClientExtensionResults(),
});

async function options(form) {
  if (form.dataset.options) return JSON.parse(form.dataset.options);
  const answer = await fetch(form.dataset.optionsFrom, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.statusText);
  return (await answer.json()).request_options;
}

const WHY = { NotAllowedError: "refused", AbortError: "refused", InvalidStateError: "known", SecurityError: "place" };

// Beside another way in, a passkey is offered to whom it can help only: where there are any, and to whoever has one.
const isOffered = ({ dataset }) =>
  window.PublicKeyCredential && (dataset.optionsFrom || JSON.parse(dataset.options).publicKey.allowCredentials?.length);

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (form.hidden && isOffered(form)) form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = form.querySelector("[data-passkey-said]");
    const button = form.querySelector("button");
    said.hidden = true;
    button.setAttribute("aria-busy", "true");
    try {
      const credential = await { create, get }[form.dataset.passkey](await options(form));
      form.elements.credential.value = JSON.stringify(credential);
      form.submit();
    } catch (error) {
      button.removeAttribute("aria-busy");
      said.textContent = said.dataset[WHY[error.name] ?? "failed"];
      said.hidden = false;
    }
  });
}

// What one types can be looked at; it is hidden again before it is sent, so that no browser keeps it as plain text.
const showPassword = document.getElementById("show-password");
for (const input of document.querySelectorAll("input[data-may-show]")) {
  const frame = document.createElement("div");
  frame.className = "shown";
  input.replaceWith(frame);
  frame.append(input, showPassword.content.cloneNode(true));
  const button = frame.querySelector("button");
  const show = (shown) => {
    input.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
  };
  button.addEventListener("click", () => show(input.type === "password"));
  input.form.addEventListener("submit", () => show(false));
}
