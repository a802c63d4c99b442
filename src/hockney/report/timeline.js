// Draws the timeline of a run anew for the part of it that a reader looks at; nothing is fetched.
(() => {
"use strict";
const data = JSON.parse(document.getElementById("explorer-data").textContent);
const figure = document.getElementById("figure-timeline");
if (!figure) return;
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1060, LEFT = 64, TOP = 4, BOTTOM = 26, ROW = Math.max(5, Math.min(22, 480 / data.ranks.length));
const HEIGHT = TOP + ROW * data.ranks.length + BOTTOM;
const WHOLE = [data.from_s, data.until_s];
const LEAST_S = (WHOLE[1] - WHOLE[0]) * 1e-6;
let seen = WHOLE, from = null;

const digits = value => String(Number(value.toPrecision(4)));
function time(s) {
  for (const [unit, scale] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) if (Math.abs(s) >= scale) return `${digits(s / scale)} ${unit}`;
  return `${digits(s * 1e9)} ns`;
}
function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}
const said = document.createElement("p");
said.className = "readout";
said.setAttribute("aria-live", "polite");
said.textContent = "Drag over a part to look at it closely. Keys: +, −, arrows, 0.";
const plot = document.createElementNS(SVG, "svg");
plot.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
plot.setAttribute("tabindex", "0");
plot.setAttribute("role", "img");
plot.setAttribute("aria-label", "What each rank does when");
plot.classList.add("timeline");
const drawn = figure.querySelector("svg");
drawn.replaceWith(plot);
plot.after(said);

const across = s => LEFT + (s - seen[0]) / (seen[1] - seen[0]) * (WIDTH - LEFT);
const when = x => seen[0] + (x - LEFT) / (WIDTH - LEFT) * (seen[1] - seen[0]);
const rowOf = new Map(data.ranks.map((rank, i) => [rank, i]));

function draw() {
  plot.replaceChildren();
  data.ranks.forEach((rank, i) => {
    if (i % Math.ceil(14 / ROW)) return;
    element("text", {x: LEFT - 6, y: TOP + ROW * (i + 0.5) + 4, "text-anchor": "end"}, plot).textContent = `rank ${rank}`;
  });
  for (const i of [0, 1, 2, 3, 4]) {
    const s = seen[0] + i / 4 * (seen[1] - seen[0]);
    const anchor = i === 0 ? "start" : i === 4 ? "end" : "middle";
    element("text", {x: across(s), y: HEIGHT - 8, "text-anchor": anchor}, plot).textContent = time(s);
  }
  // What is narrower than a point joins its neighbour of the same kind.
  const open = new Map();
  const flush = bar => element("rect", {x: bar.x0, y: TOP + ROW * bar.row + 0.5, width: Math.max(0.4, bar.x1 - bar.x0), height: ROW - 1, class: `k${bar.kind}`}, plot);
  for (let i = 0; i < data.rank.length; ++i) {
    if (data.end_s[i] <= seen[0] || data.start_s[i] >= seen[1]) continue;
    const row = rowOf.get(data.rank[i]), key = row * 8 + data.kind[i];
    const x0 = Math.max(LEFT, across(data.start_s[i])), x1 = Math.min(WIDTH, across(data.end_s[i]));
    const bar = open.get(key);
    if (bar && x0 - bar.x1 < 0.3) { bar.x1 = Math.max(bar.x1, x1); continue; }
    if (bar) flush(bar);
    open.set(key, {row, kind: data.kind[i], x0, x1});
  }
  open.forEach(flush);
}

function at(event) {
  const box = plot.getBoundingClientRect();
  return {x: (event.clientX - box.left) / box.width * WIDTH, y: (event.clientY - box.top) / box.height * HEIGHT};
}
function look(a, b) {
  const length = Math.min(Math.max(b - a, LEAST_S), WHOLE[1] - WHOLE[0]);
  const start = Math.min(Math.max(a, WHOLE[0]), WHOLE[1] - length);
  seen = [start, start + length];
  draw();
}
plot.addEventListener("pointerdown", event => { from = at(event).x; });
plot.addEventListener("pointermove", event => {
  const {x, y} = at(event), row = Math.floor((y - TOP) / ROW), s = when(x);
  if (row < 0 || row >= data.ranks.length) return;
  for (let i = 0; i < data.rank.length; ++i)
    if (data.rank[i] === data.ranks[row] && data.start_s[i] <= s && s < data.end_s[i]) {
      const of = data.end_s[i] - data.start_s[i];
      said.textContent = `rank ${data.rank[i]}, ${time(data.start_s[i])}: ${data.kinds[data.kind[i]]} for ${time(of)}, ${data.sites[data.site[i]] || "at the end"}`;
      return;
    }
  said.textContent = `rank ${data.ranks[row]}, ${time(s)}: in MPI`;
});
plot.addEventListener("pointerup", event => {
  const x = at(event).x, begun = from;
  from = null;
  if (begun !== null && Math.abs(x - begun) > 5) look(when(Math.min(x, begun)), when(Math.max(x, begun)));
});
plot.addEventListener("dblclick", () => look(...WHOLE));
plot.addEventListener("keydown", event => {
  const length = seen[1] - seen[0], middle = (seen[0] + seen[1]) / 2;
  if (event.key === "+") look(middle - length / 4, middle + length / 4);
  else if (event.key === "-") look(middle - length, middle + length);
  else if (event.key === "ArrowLeft") look(seen[0] - length / 4, seen[1] - length / 4);
  else if (event.key === "ArrowRight") look(seen[0] + length / 4, seen[1] + length / 4);
  else if (event.key === "0" || event.key === "Escape") look(...WHOLE);
  else return;
  event.preventDefault();
});
draw();
})();
