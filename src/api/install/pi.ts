// Written by `heddle install pi`; `heddle uninstall pi` removes it.
import { spawnSync } from "node:child_process";

const [program, words]: [string, string[]] = __HEDDLE__;

// What heddle answers. A failure of heddle is never one of this program: everything goes on.
function tell(event: object): { context?: string; deny?: string; report?: string } {
  try {
    const r = spawnSync(program, words, { input: JSON.stringify(event), encoding: "utf8", timeout: 5000 });
    return r.status === 0 && r.stdout ? JSON.parse(r.stdout) : {};
  } catch {
    return {};
  }
}

export default function (pi: any) {
  let source: string | undefined = "startup";
  const about = (name: string, ctx: any, more?: object) =>
    tell({ hook_event_name: name, cwd: ctx.cwd, session_id: ctx.sessionManager.getSessionId(),
      transcript_path: ctx.sessionManager.getSessionFile(),
      parent_id: ctx.sessionManager.getHeader()?.parentSession?.match(/_([^_]*)\.jsonl$/)?.[1], ...more });
  const call = (event: any) => ({ tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input });

  pi.on("session_start", async () => void (source = "startup"));
  pi.on("session_compact", async (_event: any, ctx: any) => {
    source = "compact";
    about("Stop", ctx);
  });
  // The first prompt after a start or a compaction gets the block, in front of it.
  pi.on("input", async (_event: any, ctx: any) => {
    const { context } = about(source ? "SessionStart" : "UserPromptSubmit", ctx, { source, prompted: true });
    source = undefined;
    if (context) pi.sendMessage({ customType: "heddle", content: context, display: false });
  });
  pi.on("tool_call", async (event: any, ctx: any) => {
    const { deny } = about("PreToolUse", ctx, call(event));
    if (deny) return { block: true, reason: deny };
  });
  pi.on("tool_result", async (event: any, ctx: any) => {
    const { report } = about("PostToolUse", ctx, call(event));
    if (report) return { content: [...(event.content ?? []), { type: "text", text: report }] };
  });
  pi.on("agent_end", async (_event: any, ctx: any) => void about("Stop", ctx));
  pi.on("session_shutdown", async (_event: any, ctx: any) => void about("SessionEnd", ctx));
}
