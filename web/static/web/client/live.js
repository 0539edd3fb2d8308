/**
 * The one socket of a page: commands, their replies, and streams that go on after a lost connection where they were.
 *
 * @module
 */

import { Problem, Unreachable } from "./api.js";

/** @typedef {{ snapshot?: (snapshot: any, version: number) => void, event?: (event: any, version: number, at: string) => void, state?: (state: any) => void, refused?: (problem: Problem) => void }} Follower */
/** @typedef {{ cursor: number | null, followers: Set<Follower> }} Followed */
/** @typedef {"connecting" | "live" | "lost" | "ended"} State  `ended`: signed out, or another version of the protocol */
/** @typedef {{ frame: Record<string, unknown>, resolve: (result: any) => void, reject: (error: Error) => void }} Waiting */

const PROTOCOL = 1;
const PATIENCE_MS = 20_000;
const PING_MS = 30_000;
const SLOWEST_MS = 15_000;
/** Close codes after which connecting again is of no use. */
const FINAL = new Set([4401]);

export class Live extends EventTarget {
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {Map<string, Waiting>} */ #waiting = new Map();
  /** @type {Map<string, Followed>} */ #streams = new Map();
  #number = 0;
  #tries = 0;
  /** @type {State} */ #state = "connecting";
  /** @type {ReturnType<typeof setInterval> | undefined} */ #pinging;
  /** Server time minus this device's, in milliseconds. */
  skew = 0;
  /** Who is signed in, as `hello` said; null for nobody. @type {string | null} */
  player = null;

  /** @param {string} [address] */
  constructor(address = `${location.protocol.replace("http", "ws")}//${location.host}/ws/v1`) {
    super();
    this.address = address;
  }

  /** Dispatches `change` whenever it changes. */
  get state() {
    return this.#state;
  }

  /** Resolves when it is known who is signed in; rejects when that is never to be. */
  greeted() {
    if (this.#state === "live") return Promise.resolve();
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#state === "connecting" || this.#state === "lost") return;
        this.removeEventListener("change", look);
        if (this.#state === "live") resolve(undefined);
        else reject(new Unreachable());
      };
      this.addEventListener("change", look);
    });
  }

  connect() {
    if (this.#socket) return;
    const socket = new WebSocket(this.address);
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#hear(JSON.parse(data)));
    socket.addEventListener("close", ({ code }) => this.#lost(socket, code));
  }

  /** Come back now instead of after the pause, as when the device is online again. */
  retry() {
    if (this.#state === "lost") this.connect();
  }

  /** Connect anew, as somebody else: the cookie has changed. */
  renew() {
    this.#tries = 0;
    const old = this.#socket;
    this.#socket = null;
    old?.close(1000);
    this.#become("connecting");
    this.connect();
  }

  close() {
    this.#become("ended");
    this.#socket?.close(1000);
  }

  /**
   * Send a command; its result. It waits for a connection, and is said again after a lost one: all may be said twice.
   *
   * @param {string} type
   * @param {Record<string, unknown>} [fields]
   * @returns {Promise<any>}
   * @throws {Problem | Unreachable}
   */
  command(type, fields = {}) {
    this.#number += 1;
    const id = String(this.#number);
    const frame = { type, id, ...fields };
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Unreachable());
      }, PATIENCE_MS);
      const done = () => {
        clearTimeout(patience);
        this.#waiting.delete(id);
      };
      this.#waiting.set(id, {
        frame,
        resolve: (result) => {
          done();
          resolve(result);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      this.#send(frame);
    });
  }

  /**
   * Follow a stream until the returned function is called.
   *
   * @param {string} stream
   * @param {Follower} follower
   */
  follow(stream, follower) {
    const known = this.#streams.get(stream);
    const followed = known ?? { cursor: null, followers: new Set() };
    this.#streams.set(stream, followed);
    followed.followers.add(follower);
    // Also when others follow it already: a newcomer wants the snapshot, and the others bear to get it again.
    followed.cursor = null;
    this.#subscribe(stream, followed);
    return () => {
      followed.followers.delete(follower);
      if (!followed.followers.size && this.#streams.get(stream) === followed) {
        this.#streams.delete(stream);
        if (this.#state === "live") this.command("unsubscribe", { stream }).catch(() => {});
      }
    };
  }

  /**
   * @param {string} stream
   * @param {Followed} followed
   */
  #subscribe(stream, followed) {
    if (this.#state !== "live" || (stream === "inbox" && followed.cursor === null)) return;
    const cursor = followed.cursor === null ? {} : { cursor: followed.cursor };
    this.command("subscribe", { stream, ...cursor }).then(
      ({ version }) => {
        if (version !== undefined) followed.cursor = Math.max(followed.cursor ?? 0, version);
      },
      (error) => {
        if (error instanceof Problem) for (const each of followed.followers) each.refused?.(error);
      },
    );
  }

  /** @param {Record<string, unknown>} frame */
  #send(frame) {
    if (this.#state === "live") this.#socket?.send(JSON.stringify(frame));
  }

  /** @param {any} frame */
  #hear(frame) {
    switch (frame.type) {
      case "hello":
        return this.#greeted(frame);
      case "reply": {
        const waiting = this.#waiting.get(frame.id);
        if (frame.problem) waiting?.reject(new Problem(frame.problem));
        else waiting?.resolve(frame.result);
        return;
      }
      case "snapshot":
      case "event":
      case "state":
        return this.#spread(frame);
    }
  }

  /** @param {any} hello */
  #greeted(hello) {
    if (hello.protocol !== PROTOCOL) {
      this.dispatchEvent(new Event("outdated"));
      return this.close();
    }
    this.skew = Date.parse(hello.server_time) - Date.now();
    this.player = hello.player;
    this.#tries = 0;
    this.#become("live");
    const unanswered = [...this.#waiting.values()].filter(({ frame }) => frame.type !== "subscribe");
    const inbox = this.#streams.get("inbox");
    if (inbox) inbox.cursor ??= hello.inbox ?? 0;
    for (const [stream, followed] of this.#streams) this.#subscribe(stream, followed);
    for (const { frame } of unanswered) this.#send(frame);
    clearInterval(this.#pinging);
    this.#pinging = setInterval(() => this.command("ping").catch(() => this.#socket?.close()), PING_MS);
  }

  /** @param {any} frame */
  #spread({ type, stream, version, snapshot, event, state, at }) {
    const followed = this.#streams.get(stream);
    if (!followed) return;
    if (type === "event") {
      if (followed.cursor !== null && version <= followed.cursor) return;
      followed.cursor = version;
      for (const each of followed.followers) each.event?.(event, version, at);
    } else if (type === "snapshot") {
      followed.cursor = version;
      for (const each of followed.followers) each.snapshot?.(snapshot, version);
    } else {
      for (const each of followed.followers) each.state?.(state);
    }
  }

  /**
   * @param {WebSocket} socket
   * @param {number} code
   */
  #lost(socket, code) {
    if (this.#socket !== socket) return;
    this.#socket = null;
    clearInterval(this.#pinging);
    if (this.#state === "ended") return;
    if (FINAL.has(code)) {
      this.#become("ended");
      for (const { reject } of [...this.#waiting.values()])
        reject(new Problem({ code: "token-not-valid", detail: "You are signed out." }));
      return;
    }
    this.#become("lost");
    this.#tries += 1;
    // With jitter, so that not everybody comes back at once when a server restarts.
    const pause = Math.min(SLOWEST_MS, 250 * 2 ** this.#tries) * (0.5 + Math.random() / 2);
    setTimeout(() => this.retry(), pause);
  }

  /** @param {State} state */
  #become(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.dispatchEvent(new Event("change"));
  }
}
