// What the page asks the server for; refusals come as errors whose message is a sentence.
async function answered(response) {
  const data = await response.json().catch(() => ({}));
  if (response.ok) return data;
  if (response.status === 401) throw new Error("The lab has been restarted; open the address that it printed.");
  throw new Error(data.error ?? "The lab could not answer this request.");
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Error("The lab does not answer. Start it again with thresher lab; your runs are saved.");
  }
  return answered(response);
}

const posted = (body, more) => ({ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), ...more });
const run = (number) => `/api/runs/${encodeURIComponent(number)}`;

export const folder = () => ask("/api/folder");
export const look = (asked, signal) => ask("/api/look", posted(asked, { signal }));
export const begin = (asked) => ask("/api/runs", posted(asked));
export const runOf = (number) => ask(run(number));
export const stop = (number) => ask(`${run(number)}/stop`, posted({}));
export const goOn = (number) => ask(`${run(number)}/go-on`, posted({}));
export const remove = (number) => ask(run(number), { method: "DELETE" });
export const why = (number, asked, signal) => ask(`${run(number)}/why`, posted(asked, { signal }));
export const events = (number) => new EventSource(`${run(number)}/events`);
export const reportPlace = (number) => `${run(number)}/report?theme=${document.documentElement.dataset.theme}`;
export const filePlace = (number, name) => `${run(number)}/files/${encodeURIComponent(name)}`;

/** Send a file, telling which part of it has gone. */
export function upload(file, tell) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/files?name=${encodeURIComponent(file.name)}`);
    request.upload.onprogress = (event) => tell(event.total ? event.loaded / event.total : 0);
    request.onerror = () => reject(new Error("The file could not be sent; it may be too large, or the lab has stopped."));
    request.onload = () => {
      let data = {};
      try { data = JSON.parse(request.responseText); } catch { /* the status tells */ }
      if (request.status === 200) resolve(data.name);
      else reject(new Error(data.error ?? "The file could not be added."));
    };
    request.send(file);
  });
}
