/** The client's rules against the games and vectors that the server's are held against. Run by tests/web/test_rules.py. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";

import { BLOCKS, blockNamed, draw, Run, weights } from "../../web/static/web/rules/puzzle.js";
import { cellName } from "../../web/static/web/rules/shapes.js";
import { Position, VARIANTS } from "../../web/static/web/rules/territory.js";

const read = (name) => readFileSync(new URL(`../reference/${name}`, import.meta.url), "utf8");
const games = read("territory/games.jsonl").trim().split("\n").map((line) => JSON.parse(line));
const vectors = JSON.parse(read("puzzle/vectors.json"));

/** The SHA-256 of a legal list as tests/reference/territory/README.md defines it. */
function fingerprint(position) {
  const moves = position.legal().map((squares) => position.write(squares).split(",").sort().join(","));
  return createHash("sha256").update(moves.sort().join(";")).digest("hex");
}

for (const game of games) {
  test(game.id, () => {
    let position = Position.start(VARIANTS[game.variant.replace("_", "-")]);
    for (const { m, n, h, p } of game.moves) {
      if (m === "pass") continue;
      const legal = position.legal();
      assert.equal(legal.length, n);
      assert.equal(fingerprint(position), h);
      const squares = position.read(m);
      assert.equal(position.pieceOf(squares), p);
      assert.equal(position.check(squares), null);
      ({ position } = position.play(squares));
    }
    assert.equal(position.turn, null);
    assert.deepEqual(game.points, position.variant.colours.map((_, colour) => position.points(colour)));
  });
}

test("what is refused, and why", () => {
  const start = Position.start(VARIANTS.duo);
  const reason = (position, text) => position.check(position.read(text))?.reason ?? null;
  assert.equal(reason(start, "a1"), "first-cell-not-covered");
  assert.equal(reason(start, "e10,e12"), "not-a-piece");
  assert.equal(reason(start, "e15"), "outside-board");
  const { position: after } = start.play(start.read("e10"));
  const { position: both } = after.play(after.read("j5"));
  assert.equal(reason(after, "e10,f10"), "occupied");
  assert.equal(reason(both, "f11"), "piece-not-left");
  assert.equal(reason(both, "f10,g10"), "edge-contact");
  assert.equal(reason(both, "h10,i10"), "no-corner-contact");
  assert.equal(reason(both, "f11,f12"), null);
});

test("a refusal and the legal list agree about every placement", () => {
  let position = Position.start(VARIANTS["classic-3"]);
  for (let ply = 0; position.turn !== null; ply += 1) {
    const legal = new Set(position.legal().map(String));
    if (ply % 12 === 0) {
      for (const squares of Position.start(VARIANTS.classic).placements(0)) assert.equal(position.check(squares) === null, legal.has(String(squares)));
    }
    for (const squares of position.legal()) assert.equal(position.check(squares), null);
    ({ position } = position.play(position.legal()[(ply * 7919) % legal.size]));
  }
});

test("blocks, in the order of the generator", () => {
  const cells = (block) => block.form.map(([row, column]) => cellName(row, column)).join(",");
  assert.deepEqual(Object.fromEntries(BLOCKS.map((block) => [block.name, cells(block)])), vectors.blocks);
  assert.deepEqual(BLOCKS.map((block) => block.name), Object.keys(vectors.blocks));
});

const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));

test("draws", async () => {
  for (const { shapes, seed, blocks, far, far_block } of vectors.draws) {
    const rules = { level: "custom", board: "10x10", rotation: false, dealing: "random", shapes, undo: "off" };
    const run = await Run.start(rules, bytes(seed));
    assert.deepEqual(run.hand.map((block) => block.name), blocks.slice(0, 3));
    const among = weights(rules, new Set());
    for (const [k, name] of [...blocks.entries(), [far, far_block]]) assert.equal((await draw(bytes(seed), k, among)).name, name);
  }
});

for (const [at, { rules, seed, first_hand, placements, over, rows }] of vectors.runs.entries()) {
  test(`run ${at}`, async () => {
    const names = (run) => run.hand.map((block) => block?.name ?? "-");
    let run = await Run.start(rules, bytes(seed));
    assert.deepEqual(names(run), first_hand);
    for (const [slot, rotation, where, score, streak, hand] of placements) {
      assert.notEqual(run.preview(slot, rotation, where), null);
      run = await run.place(bytes(seed), slot, rotation, where);
      assert.deepEqual([run.score, run.streak, names(run)], [score, streak, hand]);
    }
    assert.equal(run.over, over);
    assert.deepEqual(run.rows(), rows);
    assert.equal(blockNamed(first_hand[0]).name, first_hand[0]);
  });
}

test("one placement can be taken back, once", async () => {
  const { rules, seed, placements } = vectors.runs.find((run) => run.rules.undo === "off");
  const first = await Run.start({ ...rules, undo: "once" }, bytes(seed));
  const [slot, rotation, where] = placements[0];
  const placed = await first.place(bytes(seed), slot, rotation, where);
  const back = placed.takeBack();
  assert.deepEqual([back.score, back.turn, back.rows()], [0, 2, first.rows()]);
  const again = await back.place(bytes(seed), slot, rotation, where);
  assert.equal(again.takeBack(), null);
  assert.equal(first.takeBack(), null);
});
