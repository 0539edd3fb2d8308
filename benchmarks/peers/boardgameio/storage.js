// boardgame.io's storage over `pg`, as small as it can be: every write is one statement, committed before it resolves.
// Metadata has a table of its own, because boardgame.io writes it together with the state and one row would make the
// two wait for each other.
const { Pool } = require("pg");
const { Async } = require("boardgame.io/internal");

const TABLES = `
  CREATE TABLE IF NOT EXISTS match_state (id text PRIMARY KEY, state jsonb NOT NULL, initial jsonb NOT NULL);
  CREATE TABLE IF NOT EXISTS match_metadata (id text PRIMARY KEY, metadata jsonb NOT NULL);
  CREATE TABLE IF NOT EXISTS match_log (id text NOT NULL, n bigserial, entry jsonb NOT NULL, PRIMARY KEY (id, n));`;

const COLUMNS = {
  state: "(SELECT state FROM match_state WHERE id = $1)",
  initialState: "(SELECT initial FROM match_state WHERE id = $1)",
  metadata: "(SELECT metadata FROM match_metadata WHERE id = $1)",
  log: "(SELECT coalesce(jsonb_agg(entry ORDER BY n), '[]') FROM match_log WHERE id = $1)",
};

class PostgresStorage extends Async {
  constructor(connectionString) {
    super();
    this.pool = new Pool({ connectionString, max: 20 });
  }

  async connect() {
    await this.pool.query(TABLES);
  }

  query(name, text, values) {
    return this.pool.query({ name, text, values });
  }

  async createMatch(id, { initialState, metadata }) {
    const state = JSON.stringify(initialState);
    await this.query("create", "INSERT INTO match_state VALUES ($1, $2, $2)", [id, state]);
    await this.setMetadata(id, metadata);
  }

  async setState(id, state, deltalog) {
    await this.query(
      "state",
      `WITH logged AS (INSERT INTO match_log (id, entry) SELECT $1, jsonb_array_elements($3::jsonb))
       UPDATE match_state SET state = $2 WHERE id = $1`,
      [id, JSON.stringify(state), JSON.stringify(deltalog || [])],
    );
  }

  async setMetadata(id, metadata) {
    await this.query(
      "metadata",
      `INSERT INTO match_metadata VALUES ($1, $2)
       ON CONFLICT (id) DO UPDATE SET metadata = excluded.metadata`,
      [id, JSON.stringify(metadata)],
    );
  }

  async fetch(id, wanted) {
    const names = Object.keys(COLUMNS).filter((name) => wanted[name]);
    const columns = names.map((name) => `${COLUMNS[name]} AS "${name}"`).join(", ");
    const { rows } = await this.query(`fetch ${names}`, `SELECT ${columns}`, [id]);
    return Object.fromEntries(names.map((name) => [name, rows[0][name] ?? undefined]));
  }

  async wipe(id) {
    for (const table of ["match_state", "match_metadata", "match_log"]) {
      await this.pool.query(`DELETE FROM ${table} WHERE id = $1`, [id]);
    }
  }

  async listMatches() {
    return (await this.pool.query("SELECT id FROM match_state")).rows.map((row) => row.id);
  }
}

module.exports = { PostgresStorage };
