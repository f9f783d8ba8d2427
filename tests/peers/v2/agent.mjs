// A small ACP v2 agent on npm `@agentclientprotocol/sdk`, speaking on stdio.
//
// Every message but the first is caused by one from the client, and all ids are fixed, so two
// conversations with the same client are the same to the byte. It ends with status 0 at EOF.

import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk/experimental/v2";

const { agent: toAgent, client: toClient } = acp.methods;
const anything = { parse: (value) => value };
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const text = (value) => ({ type: "text", text: value });

let sessions = 0;
let messages = 0;
let cancelled = () => {};

const options = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

function speaker(client, sessionId) {
  return (sessionUpdate, fields) =>
    client.notify(toClient.session.update, { sessionId, update: { sessionUpdate, ...fields } });
}

async function open(update) {
  await update("state_update", { state: "running" });
  await update("available_commands_update", {
    availableCommands: [{ name: "tidy", description: "Tidies the notes" }],
  });
  await update("agent_thought_chunk", {
    messageId: "thought-1",
    content: text("I will read the notes, naïvely."),
  });
  await update("plan_update", {
    plan: {
      type: "items",
      planId: "plan-1",
      entries: [
        { content: "Read the notes", priority: "high", status: "in_progress" },
        { content: "Tidy them up", priority: "medium", status: "pending" },
      ],
    },
  });
  for (const piece of ["Let me ", "look … ", "日本語 🚀\n"]) {
    await update("agent_message_chunk", { messageId: "answer-1", content: text(piece) });
  }
}

async function read(update, cwd) {
  const call = { toolCallId: "call-read" };
  await update("tool_call_update", {
    ...call,
    name: "read",
    title: "Read notes.txt",
    kind: "read",
    status: "pending",
    locations: [{ path: `${cwd}/notes.txt`, line: 1 }],
    rawInput: { path: `${cwd}/notes.txt` },
  });
  await update("tool_call_update", { ...call, status: "in_progress" });
  for (const piece of ["1. café\n", "2. 日本語\n"]) {
    await update("tool_call_content_chunk", {
      ...call,
      content: { type: "content", content: text(piece) },
    });
  }
  await update("tool_call_update", {
    ...call,
    status: "completed",
    locations: null,
    rawOutput: { lines: 2 },
  });
}

async function ask(client, update, request) {
  await update("state_update", { state: "requires_action" });
  const { outcome } = await client.request(toClient.session.requestPermission, request);
  await update("state_update", { state: "running" });
  return outcome.outcome === "selected" && outcome.optionId === "allow";
}

async function execute(client, update, sessionId, cwd) {
  const call = { toolCallId: "call-run" };
  const terminal = { terminalId: "terminal-1" };
  await update("tool_call_update", {
    ...call,
    title: "Run a check",
    kind: "execute",
    status: "pending",
  });
  const allowed = await ask(client, update, {
    sessionId,
    title: "Run a check?",
    description: "It only prints.",
    subject: { type: "command", command: "printf 'd\\303\\251j\\303\\240 vu ✓\\n'", cwd, ...call },
    options,
  });
  if (!allowed) throw new Error("the client was expected to allow it");
  await update("terminal_update", {
    ...terminal,
    command: "printf 'd\\303\\251j\\303\\240 vu ✓\\n'",
    cwd,
    size: { cols: 80, rows: 24 },
  });
  await update("tool_call_update", {
    ...call,
    status: "in_progress",
    content: [{ type: "terminal", ...terminal }],
  });
  const shown = Buffer.from("\u001b[1mdéjà\u001b[0m vu ✓\r\n");
  const middle = shown.indexOf(0xc3) + 1; // between the two bytes of the first é
  await update("terminal_output_chunk", { ...terminal, data: base64(shown.subarray(0, middle)) });
  await update("terminal_output_chunk", { ...terminal, data: base64(shown.subarray(middle)) });
  await update("terminal_update", { ...terminal, exitStatus: { exitCode: 3 } });
  await update("tool_call_update", { ...call, status: "completed", rawOutput: { exitCode: 3 } });
}

async function edit(client, update, sessionId, cwd) {
  const toolCall = {
    toolCallId: "call-edit",
    title: "Edit notes.txt",
    kind: "edit",
    status: "pending",
    content: [
      {
        type: "diff",
        changes: [{ operation: "modify", path: `${cwd}/notes.txt`, fileType: "text" }],
        patch: { format: "git_patch", text: "@@ -1 +1 @@\n-1. café\n+1. CAFÉ\n" },
      },
    ],
  };
  await update("tool_call_update", toolCall);
  const allowed = await ask(client, update, {
    sessionId,
    title: "Edit notes.txt?",
    subject: { type: "tool_call", toolCall: { toolCallId: "call-edit", status: "pending" } },
    options,
  });
  await update("tool_call_update", {
    toolCallId: "call-edit",
    status: allowed ? "completed" : "cancelled",
  });
}

async function close(update, stopReason) {
  await update("state_update", { state: "idle", stopReason });
}

async function longTurn(client, sessionId, cwd) {
  const update = speaker(client, sessionId);
  await open(update);
  await read(update, cwd);
  await execute(client, update, sessionId, cwd);
  await edit(client, update, sessionId, cwd);
  await update("_peers/mood", { mood: "content" });
  await update("usage_update", { used: 1005, size: 200000 });
  await update("session_info_update", { title: "Notes ✓" });
  await update("agent_message", { messageId: "answer-1", content: [text("Done ✓")] });
  await close(update, "end_turn");
}

async function waitingTurn(client, sessionId) {
  const update = speaker(client, sessionId);
  const stop = new Promise((resolve) => {
    cancelled = resolve;
  });
  await update("state_update", { state: "running" });
  await update("agent_message_chunk", { messageId: "answer-2", content: text("Waiting …") });
  await stop;
  await close(update, "cancelled");
}

function fail(error) {
  process.stderr.write(`v2 agent: ${error?.stack ?? error}\n`);
  process.exit(1);
}

const app = acp
  .agent({ name: "peers-v2-agent" })
  .onRequest(toAgent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    info: { name: "peers-v2-agent", title: "Notes Agent ✓", version: "1.2.3" },
    capabilities: { session: { prompt: {} } },
  }))
  .onRequest(toAgent.session.new, () => {
    sessions += 1;
    return { sessionId: `session-${sessions}` };
  })
  .onRequest(toAgent.session.prompt, async ({ params, client }) => {
    const { sessionId, prompt } = params;
    messages += 1;
    const messageId = `question-${messages}`;
    await speaker(client, sessionId)("user_message", { messageId, content: prompt });
    const folder = prompt.find((block) => block.type === "resource_link");
    const turn = folder
      ? () => longTurn(client, sessionId, folder.uri.replace("file://", ""))
      : () => waitingTurn(client, sessionId);
    // The answer says that the message was inserted, not that the turn is over: it goes first.
    setImmediate(() => turn().catch(fail));
    return { messageId };
  })
  .onNotification(toAgent.session.cancel, () => cancelled())
  .onRequest(toAgent.session.close, () => ({}))
  .onRequest("_peers/echo", anything, async ({ params, client }) => {
    await client.notify("_peers/heard", { keys: Object.keys(params).sort() });
    return params;
  })
  .onNotification("_peers/note", anything, () => {});

process.stderr.write("v2 agent ready ✓\n");
const stream = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
app.connect(stream);
