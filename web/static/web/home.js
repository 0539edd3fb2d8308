// Fills the lists of the home page from the public API.

async function ask(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error((await answer.json()).detail);
  return answer.json();
}

function fill(id, lines, empty) {
  const items = (lines.length ? lines : [empty]).map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  });
  document.getElementById(id).replaceChildren(...items);
}

async function show(id, path, linesOf, empty) {
  try {
    fill(id, linesOf(await ask(path)), empty);
  } catch (error) {
    fill(id, [], `Not available: ${error.message}`);
  }
}

show("leaderboard", "/api/v1/leaderboards/duo:blitz", (page) =>
  page.entries.map((entry) => `${entry.player.name} · ${entry.rating}`), "Nobody has a settled rating yet.");
show("pools", "/api/v1/pools", (page) =>
  page.pools.map((pool) => `${pool.key} · ${pool.waiting} waiting`), "No pool is open.");
