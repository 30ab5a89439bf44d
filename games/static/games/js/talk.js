// The chat: the doorbell's line, what is said, and what was not read yet. It looks when the bell rings, when the line
// comes back, when somebody comes back to the page, and now and then, so that a lost ring costs nothing.

const AGAIN = [1000, 2000, 5000, 10000, 30000];
const SIGNED_OUT = 4401;
const FOR_GOOD = new Set([4400, 4404]);
const LOOK_MS = 30_000;
// Many rings at once are one look, and not every page looks in the same moment.
const GATHER_MS = 150;
// So close to its end a list is read to its end, and follows what is said.
const END_PX = 30;

/** Make a list say what a fresh one says; what says the same stays where it is, with the keyboard and what is marked. */
const patch = (list, fresh) => {
  const said = new Map([...fresh.children].map((item) => [item.id, item.textContent]));
  for (const item of [...list.children]) if (said.get(item.id) !== item.textContent) item.remove();
  [...fresh.children].forEach((item, place) => {
    if (list.children[place]?.id === item.id) return;
    list.insertBefore(item, list.children[place] ?? null);
    htmx.process(item);
  });
};

const listen = (talk) => {
  const panel = talk.querySelector(".talk-panel");
  const summary = talk.querySelector("summary");
  const badge = talk.querySelector(".unread");
  const address = location.origin.replace(/^http/, "ws") + talk.dataset.socket;
  const part = (name, root = panel) => root.querySelector(`.${name}`);
  let tries = 0;
  let seen = null;

  const count = () => {
    const newest = Number(part("said")?.dataset.newest ?? 0);
    if (seen === null || talk.open) seen = newest;
    badge.hidden = newest <= seen;
    if (badge.hidden) summary.removeAttribute("aria-describedby");
    else summary.setAttribute("aria-describedby", badge.id);
  };
  const toEnd = () => {
    const said = part("said");
    if (said) said.scrollTop = said.scrollHeight;
  };

  // The whole panel anew: where somebody stands has changed, or whether they want to hear anything.
  const anew = () => htmx.trigger(panel, "rung");

  const look = async () => {
    const said = part("said");
    const answer = await fetch(panel.getAttribute("hx-get")).catch(() => null);
    if (!answer?.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    // What the panel was told meanwhile may be newer.
    if (part("said") !== said) return ring();
    const now = part("said", fresh);
    if (now?.dataset.side !== said?.dataset.side) return anew();
    if (!said) return;
    const atEnd = said.scrollHeight - said.scrollTop - said.clientHeight < END_PX;
    patch(said, now);
    said.dataset.newest = now.dataset.newest;
    if (atEnd) toEnd();
    for (const people of panel.querySelectorAll(".people")) patch(people, part("people", fresh));
    count();
  };

  // One look after another.
  let looking = Promise.resolve();
  let waiting = 0;
  const ring = () => {
    waiting ||= setTimeout(() => {
      waiting = 0;
      looking = looking.then(look);
    }, GATHER_MS * (0.5 + Math.random()));
  };
  const lookAgain = () => document.hidden || ring();

  const connect = () => {
    const socket = new WebSocket(address);
    socket.addEventListener("open", () => {
      tries = 0;
      // What was said before it listened.
      ring();
    });
    socket.addEventListener("message", ring);
    socket.addEventListener("close", ({ code }) => {
      if (code === SIGNED_OUT) anew();
      if (!FOR_GOOD.has(code)) setTimeout(connect, AGAIN[Math.min(tries++, AGAIN.length - 1)]);
    });
  };

  // Whoever is writing keeps what they have written, whatever else they press.
  let draft = "";
  panel.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const said = detail.requestConfig.elt.matches(".say");
    draft = said ? "" : (panel.querySelector("[name=words]")?.value ?? "");
  });
  panel.addEventListener("htmx:afterSwap", () => {
    const field = panel.querySelector("[name=words]");
    if (field && draft) field.value = draft;
  });
  panel.addEventListener("htmx:afterSettle", () => {
    count();
    toEnd();
  });
  talk.addEventListener("toggle", () => {
    count();
    toEnd();
  });
  document.addEventListener("visibilitychange", lookAgain);
  setInterval(lookAgain, LOOK_MS);
  connect();
};

for (const talk of document.querySelectorAll(".talk[data-socket]")) listen(talk);
