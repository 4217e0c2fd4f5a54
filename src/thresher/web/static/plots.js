// Small plots in SVG, in the colours of the page.
import { h, s } from "./dom.js";
import { criterion, leader, measured, number } from "./words.js";

/** A histogram of a few bars. */
export function spark(counts) {
  if (!counts?.length) return null;
  const width = 64 / counts.length, top = Math.max(...counts) || 1;
  const d = counts.map((n, i) => (n ? `M${i * width} 20v${(-20 * n) / top}h${0.85 * width}V20z` : "")).join("");
  return s("svg", { class: "spark s1", viewBox: "0 0 64 20", preserveAspectRatio: "none", "aria-hidden": "true" }, s("path", { fill: "currentColor", d }));
}

const COLOURS = 8;
export const colour = (k) => `s${(k % COLOURS) + 1}`;

function nice(low, high, n = 4) {
  const span = high - low || Math.abs(high) || 1, raw = span / n, unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * ([1, 2, 5, 10].find((k) => k * unit >= raw) ?? 10);
  const ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high + 1e-9 * span; t += step) ticks.push(Math.abs(t) < 1e-12 ? 0 : t);
  return ticks;
}

/** A frame with ticks; returns the drawing and the places of values. */
function frame({ x, y, label, xTitle, yText, width, height = 220 }) {
  const W = Math.max(280, Math.min(width || 640, 1040)), left = 58, right = 12, top = 12, bottom = 34;
  const px = (v) => left + ((v - x[0]) / (x[1] - x[0] || 1)) * (W - left - right);
  const py = (v) => height - bottom - ((v - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  const svg = s("svg", { class: "plot", viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": label, css: { "max-width": `${W}px` } },
    nice(...y).map((t) => [
      s("line", { class: "gridline", x1: left, x2: W - right, y1: py(t), y2: py(t) }),
      s("text", { class: "tick", x: left - 8, y: py(t) + 4, "text-anchor": "end" }, yText(t)),
    ]),
    nice(...x, W < 420 ? 4 : 6).map((t) => s("text", { class: "tick", x: px(t), y: height - bottom + 18, "text-anchor": "middle" }, number(t))),
    s("text", { class: "tick", x: W - right, y: height - 3, "text-anchor": "end" }, xTitle));
  return { svg, px, py };
}

/** What was measured so far: a dot for each evaluation, and the leading one with its interval. */
export function course(evaluations, names, width) {
  const name = evaluations[0].criterion, n = evaluations.length;
  const spread = (each) => 1.96 * (each.error_of_value ?? 0);
  const values = evaluations.map((each) => each.value).sort((a, b) => a - b);
  const best = evaluations.reduce(leader);
  let high = Math.max(values[Math.floor(0.95 * (values.length - 1))], best.value + spread(best));
  let low = Math.min(values[0], best.value - spread(best));
  const room = 0.08 * (high - low || Math.abs(high) || 1);
  [low, high] = [Math.max(low - room, name === "error" || name === "mse" ? 0 : -Infinity), high + room];
  const { svg, px, py } = frame({
    width, x: [0.5, Math.max(10, n) + 0.5], y: [low, high], xTitle: "settings tried", yText: (t) => measured(name, t),
    label: `${n} settings were tried; the best has ${criterion(name)} ${measured(name, best.value)}.`,
  });
  const clip = (v) => Math.max(low, Math.min(high, v));
  let lead = null, line = "", upper = [], lower = [];
  evaluations.forEach((each, i) => {
    lead = lead === null ? each : leader(lead, each);
    const at = px(i + 1), next = px(i + 2);
    line += `${line ? "L" : "M"}${at} ${py(clip(lead.value))}H${i + 1 < n ? next : at + 6}`;
    const half = spread(lead);
    for (const place of [at, i + 1 < n ? next : at + 6]) {
      upper.push(`${place} ${py(clip(lead.value + half))}`);
      lower.push(`${place} ${py(clip(lead.value - half))}`);
    }
  });
  if (upper.length) svg.append(s("path", { class: "band s1", d: `M${upper.join("L")}L${lower.reverse().join("L")}Z` }));
  svg.append(s("path", { class: "line s1", d: line }));
  evaluations.forEach((each, i) => {
    svg.append(s("circle", { class: `dot ${colour(names.indexOf(each.candidate))}`, cx: px(i + 1), cy: py(clip(each.value)), r: 4 },
      s("title", null, `${each.candidate}: ${measured(name, each.value)}`)));
  });
  return svg;
}

/** A curve over thresholds, with a mark at one of them and at the one in use. */
export function curve(xs, ys, { at, inUse, label, xTitle, width }) {
  const { svg, px, py } = frame({ width, x: [xs[0], xs[xs.length - 1]], y: [0, Math.max(...ys) || 1], label, xTitle, yText: (t) => number(t, 3) });
  svg.append(
    s("path", { class: "line s1", d: xs.map((x, i) => `${i ? "L" : "M"}${px(x)} ${py(ys[i])}`).join("") }),
    s("line", { class: "inuse", x1: px(inUse), x2: px(inUse), y1: 12, y2: py(0) }),
    s("line", { class: "here s2", x1: px(xs[at]), x2: px(xs[at]), y1: 12, y2: py(0) }),
    s("circle", { class: "dot s2", cx: px(xs[at]), cy: py(ys[at]), r: 5 }));
  return svg;
}

/** A bar to the right for parts above 0, to the left for others. */
export function signedBar(share) {
  const bar = h("i", { class: share < 0 ? "minus" : null });
  bar.style[share < 0 ? "right" : "left"] = "50%";
  bar.style.width = `${50 * Math.min(1, Math.abs(share))}%`;
  return h("div", { class: "bar two", "aria-hidden": "true" }, bar);
}
