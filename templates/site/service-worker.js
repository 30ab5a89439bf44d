/* Shows a page of our own when the line is cut. It keeps that page and nothing else: no game, no person. */
const OFFLINE = "{{ kept.0 }}";
const KEPT = [{% for address in kept %}"{{ address }}"{% if not forloop.last %}, {% endif %}{% endfor %}];
const SHELF = `midnight ${KEPT.join(" ")}`;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELF).then((shelf) => shelf.addAll(KEPT)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const clear = async () => {
    for (const name of await caches.keys()) if (name !== SHELF) await caches.delete(name);
    await self.registration.navigationPreload?.enable();
    await self.clients.claim();
  };
  event.waitUntil(clear());
});

const page = async (event) => {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch {
    return caches.match(OFFLINE);
  }
};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode === "navigate") event.respondWith(page(event));
  else if (KEPT.includes(new URL(request.url).pathname)) {
    event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
  }
});
