/* The score sheet counts up, line by line as the rules do (R7.3), for whoever saw the game end and did not ask for calm. */

const LINE_MS = 900;
const STEPS = 12;

const isStill = () =>
  document.documentElement.dataset.motion === "reduced" || matchMedia("(prefers-reduced-motion: reduce)").matches;
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const numbers = (row) => [...row.querySelectorAll("td")];

/** Counts the sheet that is on the page; its numbers are the server's, and all there when this is done. */
export async function countUp(place) {
  const rows = [...place.querySelectorAll(".sheet tbody tr:not(.line-tie)")];
  if (isStill() || !rows.length) return;
  const sheet = rows[0].closest("table");
  const lines = rows.map((row) => numbers(row).map((cell) => Number(cell.textContent)));
  const total = numbers(rows.at(-1));
  const sums = total.map(() => 0);
  sheet.classList.add("counting");
  for (const cell of rows.flatMap(numbers)) cell.textContent = "";
  for (const [at, row] of rows.slice(0, -1).entries()) {
    row.classList.add("now");
    for (let step = 1; step <= STEPS && sheet.isConnected; step += 1) {
      numbers(row).forEach((cell, column) => {
        const counted = Math.round((lines[at][column] * step) / STEPS);
        cell.textContent = counted;
        total[column].textContent = sums[column] + counted;
      });
      await rest(LINE_MS / STEPS);
    }
    lines[at].forEach((points, column) => {
      sums[column] += points;
    });
    row.classList.remove("now");
  }
  total.forEach((cell, column) => {
    cell.textContent = lines.at(-1)[column];
  });
  sheet.classList.remove("counting");
}
