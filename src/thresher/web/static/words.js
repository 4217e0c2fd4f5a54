// Numbers and terms in words.
const TERMS = {
  error: "The share of rows with a wrong answer, among rows that the model had not learned from.",
  balanced_error: "The mean share of wrong answers over the classes, however rare they are.",
  cost: "What mistakes cost on average, per row, by the costs that you gave.",
  mse: "The mean squared difference between prediction and truth; large differences count more.",
  f1: "The balance of how many rows of the class are found and how many of the rows classified so are right; 1 is perfect.",
  roc_auc: "The chance that a row of the class has a higher score than another row; 0.5 is a guess, 1 is perfect.",
  average_precision: "The mean share of right rows at the top of the ranking, over all its lengths; 1 is perfect.",
  silhouette: "How well the groups are separated, from -1 to 1; greater is better.",
  line_fit: "How well rows of a group lie on a line; 1 is perfect.",
  Error: "The share of rows with a wrong answer, among rows that the model had not learned from.",
  "Balanced accuracy": "The mean share of right answers over the classes, rare or not.",
  AUROC: "The chance that a row of the class has a higher score than another row; 0.5 is a guess, 1 is perfect.",
  "Average precision": "The mean share of right rows at the top of the ranking, over all its lengths; 1 is perfect.",
  RMSE: "The root of the mean squared difference between prediction and truth, in the unit of the target.",
  MAE: "The mean difference between prediction and truth, in the unit of the target.",
  "R²": "The share of the variance that the model explains; 1 is perfect, 0 is no better than the mean.",
  "Features in use": "Columns, or single words and values of them, that the model looks at.",
  Silhouette: "How well the groups are separated, from -1 to 1; greater is better.",
  interval: "If the same were done with other rows of this kind, the true value would be within such a range 19 times out of 20.",
  candidate: "A kind of model with one choice of its settings.",
  score: "A number that the model computes for a row; above the threshold, the row gets this class.",
};
export const term = (name) => TERMS[name];

const IN_WORDS = { balanced_error: "balanced error", mse: "squared error", roc_auc: "AUROC", average_precision: "average precision", line_fit: "line fit" };
export const criterion = (name) => IN_WORDS[name] ?? name;
const SHARES = new Set(["error", "balanced_error"]);
const SMALLER = new Set(["error", "balanced_error", "cost", "mse"]);
const isBetter = (name, a, b) => (SMALLER.has(name) ? a < b : a > b);
/** The one of two evaluations that leads: the better one, unless the other was measured on more rows. */
export const leader = (a, b) => (b.n_rows > a.n_rows || (b.n_rows === a.n_rows && isBetter(a.criterion, b.value, a.value)) ? b : a);

export const count = (n) => Math.round(n).toLocaleString("en");
export function number(x, digits = 4) {
  if (x === null || x === undefined) return "–";
  if (typeof x !== "number") return String(x);
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return x.toLocaleString("en").replace(/^-/, "−");
  const size = Math.abs(x);
  const text = size !== 0 && (size < 1e-3 || size >= 1e7) ? x.toExponential(digits - 2) : String(Number(x.toPrecision(digits)));
  return text.replace(/^-/, "−");
}
export const percent = (x, digits = 1) => `${(100 * x).toFixed(digits)} %`;
export const measured = (name, x) => (SHARES.has(name) ? percent(x) : number(x));
export function bytes(n) {
  const units = ["bytes", "kB", "MB", "GB"];
  let k = 0;
  while (n >= 1000 && k < 3) { n /= 1000; k += 1; }
  return `${k ? Number(n.toPrecision(3)) : n} ${units[k]}`;
}
export function seconds(t) {
  if (t < 90) return `${Math.max(0, Math.round(t))} s`;
  return t < 5400 ? `${Math.round(t / 60)} min` : `${(t / 3600).toFixed(1)} h`;
}
export const moment = (t) => new Date(1000 * t).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
export const STATES = { running: "running", done: "done", failed: "failed", interrupted: "interrupted" };
