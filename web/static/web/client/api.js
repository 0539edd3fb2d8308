/**
 * The REST API as functions. Signed in by the session's cookie; whatever changes something carries the CSRF token.
 *
 * @module
 */

/** A refusal of the server: its problem document. `code` is stable and what to branch on; `detail` is for people. */
export class Problem extends Error {
  /**
   * @param {{ code?: string, title?: string, detail?: string, status?: number, [name: string]: unknown }} document
   */
  constructor(document) {
    super(document.detail || document.title || "The server refused.");
    this.name = "Problem";
    this.code = document.code ?? "unknown";
    this.status = document.status ?? 0;
    this.data = document;
  }
}

/** No answer came: the server or the network is away, and the call may or may not have taken effect. */
export class Unreachable extends Error {
  constructor() {
    super("The server cannot be reached.");
    this.name = "Unreachable";
  }
}

/** @param {string} name */
export function cookie(name) {
  const found = document.cookie.split("; ").find((each) => each.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}

/**
 * One call; its JSON answer, or null when there is none.
 *
 * @param {string} method
 * @param {string} path  below `/api/v1/`
 * @param {object} [options]
 * @param {unknown} [options.body]
 * @param {string} [options.key]  an Idempotency-Key: the same one for every try of a creating call
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<any>}
 * @throws {Problem | Unreachable}
 */
export async function call(method, path, { body, key, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = cookie("csrftoken");
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  let answer;
  try {
    answer = await fetch(`/api/v1/${path}`, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable();
  }
  const type = answer.headers.get("Content-Type") ?? "";
  const content = type.includes("json") ? await answer.json() : null;
  if (!answer.ok) throw new Problem(content ?? { status: answer.status });
  return content;
}

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export const get = (path, signal) => call("GET", path, { signal });

/**
 * @param {string} path
 * @param {unknown} [body]
 */
export const put = (path, body) => call("PUT", path, { body });

/** @param {string} path */
export const remove = (path) => call("DELETE", path);

/**
 * Make something. A call that got no answer is said again under the same key, so that it is made once.
 *
 * @param {string} path
 * @param {unknown} [body]
 */
export async function create(path, body = {}) {
  const key = crypto.randomUUID();
  for (let pause = 500; ; pause *= 2) {
    try {
      return await call("POST", path, { body, key });
    } catch (error) {
      if (!(error instanceof Unreachable) || pause > 4_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
