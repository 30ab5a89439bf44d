/* A record may be dropped or pasted: either way it goes with the form as a file. */

const form = document.getElementById("bring");
const file = document.getElementById("record");
const pasted = document.getElementById("pasted");
pasted.parentElement.hidden = false;

function take(files) {
  const moved = new DataTransfer();
  moved.items.add(files[0]);
  file.files = moved.files;
}

form.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("over");
});
form.addEventListener("dragleave", () => form.classList.remove("over"));
form.addEventListener("drop", (event) => {
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
