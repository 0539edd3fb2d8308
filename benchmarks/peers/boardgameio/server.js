// boardgame.io as its documentation has it: a turn is one move, the state is plain data, each action is authenticated,
// reduced and stored. Undo is off, because it would keep every former board in the state.
const { Server } = require("boardgame.io/server");
const { INVALID_MOVE } = require("boardgame.io/core");
const { PostgresStorage } = require("./storage");

const SIZE = 14;

const Duel = {
  name: "duel",
  minPlayers: 2,
  maxPlayers: 2,
  disableUndo: true,
  setup: () => ({ board: new Array(SIZE * SIZE).fill(0), lastMove: "", ply: 0 }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    play: ({ G }, ply, move) => {
      if (ply !== G.ply) return INVALID_MOVE;
      for (const cell of move.split(",")) {
        const row = SIZE - Number(cell.slice(1));
        const column = cell.charCodeAt(0) - 97;
        if (!(row >= 0 && row < SIZE && column >= 0 && column < SIZE)) return INVALID_MOVE;
        G.board[row * SIZE + column] = 1 + (ply & 127);
      }
      G.lastMove = move;
      G.ply = ply + 1;
    },
  },
};

const [port, database] = process.argv.slice(2);
const server = Server({ games: [Duel], db: new PostgresStorage(database), origins: ["http://127.0.0.1"] });
// `run` takes no address: keep it off the network.
const listen = server.app.listen.bind(server.app);
server.app.listen = (number, ready) => listen(number, "127.0.0.1", ready);
server.run(Number(port));
