/* The way through a replay: a bar with the phases and the moments of note, and the steps along it. */

import { make } from "./words.js";

/** Lays the phases and moments of a record along the bar. */
export function lay(track, { events, phases, moments, seats }) {
  const last = events.length;
  const phase = phases.map(([seq, name], index) => {
    const part = make("span", "");
    part.dataset.phase = name;
    part.style.flexGrow = (phases[index + 1]?.[0] ?? last + 1) - seq;
    return part;
  });
  const marks = moments.map(([seq, kind]) => {
    const { seat } = events[seq - 1];
    const mark = make("i", `mark ${kind} ${seats[seat]?.character ?? ""}`);
    mark.style.insetInlineStart = `${(100 * (seq - 1)) / Math.max(1, last - 1)}%`;
    return mark;
  });
  track.replaceChildren(make("span", "phases", ...phase), ...marks);
}

export const nextMoment = (moments, seq) => moments.find(([one]) => one > seq)?.[0];
export const momentBefore = (moments, seq) => moments.findLast(([one]) => one < seq)?.[0];
