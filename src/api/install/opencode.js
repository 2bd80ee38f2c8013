// Written by `heddle install opencode`; `heddle uninstall opencode` removes it.
import { spawnSync } from "node:child_process";

const [program, words] = __HEDDLE__;

// What heddle answers. A failure of heddle is never one of this program: everything goes on.
function tell(event) {
  try {
    const r = spawnSync(program, words, { input: JSON.stringify(event), encoding: "utf8", timeout: 5000 });
    return r.status === 0 && r.stdout ? JSON.parse(r.stdout) : {};
  } catch {
    return {};
  }
}

export const Heddle = async ({ client, directory }) => {
  const begun = new Set(), compacted = new Map(), parents = new Map();
  const about = (name, id, more) => tell({ hook_event_name: name, session_id: id, cwd: directory, parent_id: parents.get(id), ...more });
  // A fork names no origin; its title does: "A title (fork #1)". Of several the one used last.
  async function origin(id) {
    try {
      const list = (await client.session.list()).data ?? [], own = list.find((s) => s.id === id);
      const title = own?.title.match(/^(.*) \(fork #\d+\)$/s)?.[1];
      const like = list.filter((s) => s.id !== id && (s.title === title || s.title.startsWith(`${title} (fork #`)));
      return own?.parentID ?? (title && like.sort((a, b) => b.time.updated - a.time.updated)[0]?.id);
    } catch {
      return undefined;
    }
  }
  return {
    // The first message of a session in this process, and the first after a compaction, get the block.
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const source = !begun.has(sessionID) ? "startup" : compacted.has(sessionID) ? "compact" : undefined;
      if (!begun.has(sessionID)) parents.set(sessionID, await origin(sessionID));
      begun.add(sessionID);
      compacted.delete(sessionID);
      const { context } = about(source ? "SessionStart" : "UserPromptSubmit", sessionID, { source, prompted: true });
      const id = "prt_0heddle" + Date.now().toString(36) + Math.random().toString(36).slice(2, 8);
      if (context) parts.unshift({ id, sessionID, messageID: message.id, type: "text", text: context, synthetic: true });
    },
    // After a compaction it goes on by itself, with a message that nobody wrote.
    "experimental.chat.messages.transform": async (_input, { messages }) => {
      const last = messages.findLast((m) => m.info.role === "user"), text = compacted.get(last?.info.sessionID);
      if (text && !last.parts.some((p) => p.text === text)) last.parts.unshift({ ...last.parts[0], type: "text", text, synthetic: true });
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const { deny } = about("PreToolUse", sessionID, { tool_name: tool, tool_use_id: callID, tool_input: args });
      if (deny) throw new Error(deny);
    },
    "tool.execute.after": async ({ tool, sessionID, callID }, output) => {
      const { report } = about("PostToolUse", sessionID, { tool_name: tool, tool_use_id: callID });
      if (report) output.output = `${output.output ?? ""}\n\n${report}`;
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.compacted") compacted.set(id, about("SessionStart", id, { source: "compact", prompted: true }).context);
      if (event.type === "session.compacted" || event.type === "session.idle") about("Stop", id);
      if (event.type === "session.deleted") about("SessionEnd", id);
    },
  };
};
