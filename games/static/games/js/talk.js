// The chat: the doorbell's line, and what was not read yet.

const AGAIN = [1000, 2000, 5000, 10000, 30000];
const FOR_GOOD = new Set([4400, 4401, 4404]);

const listen = (talk) => {
  const panel = talk.querySelector(".talk-panel");
  const badge = talk.querySelector(".unread");
  const address = location.origin.replace(/^http/, "ws") + talk.dataset.socket;
  let tries = 0;
  let seen = null;

  const connect = () => {
    const socket = new WebSocket(address);
    socket.addEventListener("open", () => {
      if (tries) htmx.trigger(panel, "rung");
      tries = 0;
    });
    socket.addEventListener("message", () => htmx.trigger(panel, "rung"));
    socket.addEventListener("close", ({ code }) => {
      if (!FOR_GOOD.has(code)) setTimeout(connect, AGAIN[Math.min(tries++, AGAIN.length - 1)]);
    });
  };

  const look = () => {
    const said = panel.querySelector(".said");
    const newest = Number(said?.dataset.newest ?? 0);
    if (seen === null || talk.open) seen = newest;
    badge.hidden = newest <= seen;
    if (said) said.scrollTop = said.scrollHeight;
  };

  panel.addEventListener("htmx:afterSettle", look);
  talk.addEventListener("toggle", look);
  connect();
};

for (const talk of document.querySelectorAll(".talk[data-socket]")) listen(talk);
