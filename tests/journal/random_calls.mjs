// Random file operations below the current folder, the same ones for the same seed, errors included: random_calls.mjs SEED COUNT.

import fs from "node:fs";

let chance = BigInt(process.argv[2]) * 2654435761n + 1n;
const below = (limit) => {
  chance = BigInt.asUintN(64, chance * 6364136223846793005n + 1442695040888963407n);
  return Number(chance >> 33n) % limit;
};
const pick = (list) => list[below(list.length)];
const path = () =>
  pick(["", "", "./", `${process.cwd()}/`]) + Array.from({ length: 1 + below(3) }, () => pick(["a", "b", "c", "d", "é", "x y"])).join("/");
const data = () => Buffer.alloc(pick([0, 3, 100, 5000, 40000]), below(256));

const operations = [
  () => fs.writeFileSync(path(), data()),
  () => fs.appendFileSync(path(), data()),
  () => fs.promises.writeFile(path(), data()),
  () => fs.promises.rm(path(), { recursive: below(2) === 0 }),
  () => fs.truncateSync(path(), below(200)),
  () => fs.unlinkSync(path()),
  () => fs.rmSync(path(), { recursive: true }),
  () => fs.mkdirSync(path(), { recursive: below(2) === 0 }),
  () => fs.renameSync(path(), path()),
  () => fs.renameSync(path(), path()),
  () => fs.linkSync(path(), path()),
  () => fs.symlinkSync(path(), path()),
  () => fs.copyFileSync(path(), path()),
  () => fs.cpSync(path(), path(), { recursive: true }),
  () => fs.chmodSync(path(), pick([0o600, 0o755, 0o444])),
  () => fs.lutimesSync(path(), 5, below(1e9)),
];
for (let count = Number(process.argv[3]); count > 0; count--) {
  try {
    await pick(operations)();
  } catch (error) {
    if (!error.code) throw error;
  }
}
