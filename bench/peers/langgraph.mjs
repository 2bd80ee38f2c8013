// The same work with LangGraph JS and its SQLite or PostgreSQL checkpointer.
//
//     node langgraph.mjs append FILE N     one 500-byte message at a time, then read all back
//     node langgraph.mjs race FILE         ten parallel writers on one thread
//
// FILE may be postgres:///DATABASE?host=FOLDER&user=USER, of a server on a unix socket.
// Prints NAME <tab> VALUE lines. Run where the packages are installed.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { statSync } from "node:fs";

const from = createRequire(pathToFileURL(process.cwd() + "/package.json"));
const load = async (name) => await import(pathToFileURL(from.resolve(name)));
const { StateGraph, MessagesAnnotation, START } = await load("@langchain/langgraph");
const { HumanMessage } = await load("@langchain/core/messages");

const [what, file, count] = process.argv.slice(2);
const onServer = file.startsWith("postgres:");
const saver = onServer ? await postgresSaver() : await sqliteSaver();
const graph = new StateGraph(MessagesAnnotation)
  .addNode("wait", async () => ({}))
  .addEdge(START, "wait")
  .compile({ checkpointer: saver });
const config = { configurable: { thread_id: "t" }, durability: "sync" };
const text = (i) => `${i} `.padEnd(500, "the warp holds still while the weft goes over ");
const say = (name, value) => console.log(`${name}\t${value}`);
const ms = (start) => Number(process.hrtime.bigint() - start) / 1e6;
const size = (name) => {
  try {
    return statSync(name).size;
  } catch {
    return 0;
  }
};

async function sqliteSaver() {
  const { SqliteSaver } = await load("@langchain/langgraph-checkpoint-sqlite");
  const made = SqliteSaver.fromConnString(file);
  made.db.pragma("journal_mode = WAL");
  made.db.pragma("synchronous = FULL");
  return made;
}

async function postgresSaver() {
  const { PostgresSaver } = await load("@langchain/langgraph-checkpoint-postgres");
  const made = PostgresSaver.fromConnString(file);
  await made.setup();
  return made;
}

const bytes = async () => {
  if (!onServer) {
    saver.db.pragma("wal_checkpoint(TRUNCATE)");
    return size(file) + size(file + "-wal");
  }
  const tables = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"];
  const sum = tables.map((t) => `pg_total_relation_size('${t}')`).join(" + ");
  return Number((await saver.pool.query(`SELECT ${sum} AS n`)).rows[0].n);
};

async function append(n) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < n; i++)
    await graph.updateState(config, { messages: [new HumanMessage(text(i))] }, "wait");
  say("append_ms", ms(start));
  const reading = process.hrtime.bigint();
  const state = await graph.getState(config);
  say("load_ms", ms(reading));
  say("messages", state.values.messages.length);
  say("file_bytes", await bytes());
}

async function race() {
  await graph.invoke({ messages: [new HumanMessage("base")] }, config);
  const writers = Array.from({ length: 10 }, (_, i) =>
    graph.invoke({ messages: [new HumanMessage(`writer ${i}`)] }, config),
  );
  const done = await Promise.allSettled(writers);
  say("errors", done.filter((d) => d.status === "rejected").length);
  const state = await graph.getState(config);
  const kept = state.values.messages.filter((m) => String(m.content).startsWith("writer"));
  say("kept", kept.length);
}

await (what === "race" ? race() : append(Number(count)));
if (onServer) await saver.end();
