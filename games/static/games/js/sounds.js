/* A few short tones of our own, and silence by one click: kept in this browser, until somebody says otherwise under
   "Display and sound". */

const TONES = {
  lift: [[520, 0.06]],
  stash: [[392, 0.07], [587, 0.09]],
  back: [[330, 0.06]],
  refused: [[180, 0.14]],
  token: [[659, 0.12], [880, 0.2]],
  bag: [[294, 0.08], [440, 0.08], [740, 0.22]],
  turn: [[587, 0.1], [740, 0.1], [880, 0.18]],
};
// What the server said when this browser was told the opposite.
const KEPT = "sounds-instead-of";

const root = document.documentElement;
const wish = root.dataset.sounds;
const button = document.getElementById("sounds");
let context = null;

function set(on) {
  root.dataset.sounds = on ? "on" : "off";
  button.ariaPressed = on;
}

if (localStorage.getItem(KEPT) !== wish) localStorage.removeItem(KEPT);
set((wish === "on") !== (KEPT in localStorage));
button.addEventListener("click", () => {
  set(root.dataset.sounds !== "on");
  if (root.dataset.sounds === wish) localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, wish);
  play("lift");
});

export function play(name) {
  // A browser lets nothing sound before the first touch.
  if (root.dataset.sounds !== "on" || !navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  let at = context.currentTime;
  for (const [pitch, length] of TONES[name]) {
    const tone = new OscillatorNode(context, { frequency: pitch, type: "triangle" });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0.12, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + length);
    at += length * 0.8;
  }
}
