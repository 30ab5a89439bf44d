/* A record may be dropped anywhere on the page, or pasted: either way it goes with the form as a file. */

const form = document.getElementById("bring");
const file = document.getElementById("record");
const pasted = document.getElementById("pasted");
pasted.parentElement.hidden = false;

function take(files) {
  const moved = new DataTransfer();
  moved.items.add(files[0]);
  file.files = moved.files;
}

// A browser opens a file that is dropped beside what takes it, and leaves the site. Words are its own to move.
const brings = (event) => event.dataTransfer.types.includes("Files");

document.addEventListener("dragover", (event) => {
  if (!brings(event)) return;
  event.preventDefault();
  form.classList.add("over");
});
document.addEventListener("dragleave", ({ relatedTarget }) => {
  if (!relatedTarget) form.classList.remove("over");
});
document.addEventListener("drop", (event) => {
  if (!brings(event)) return;
  event.preventDefault();
  form.classList.remove("over");
  const { files } = event.dataTransfer;
  if (!files.length) return;
  take(files);
  form.requestSubmit();
});
form.addEventListener("submit", () => {
  if (pasted.value.trim()) take([new File([pasted.value], "record.json", { type: "application/json" })]);
});
