// A small ACP v2 client on npm `@agentclientprotocol/sdk`.
//
// Starts the agent whose command is its own arguments, holds one fixed conversation with it, and
// prints what it saw as one JSON document: the messages of both directions as the SDK decoded or
// sent them, and how the agent ended. Its own status is 0 if the conversation went to its end.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk/experimental/v2";

const { agent: toAgent, client: toClient } = acp.methods;
const anything = { parse: (value) => value };
const folder = process.cwd();
const wire = { client: [], agent: [] };
const updates = [];
const subjects = [];
const heard = [];
let idle = () => {};

function nextIdle() {
  return new Promise((resolve) => {
    idle = resolve;
  });
}

function witness(messages) {
  return new TransformStream({
    transform(message, controller) {
      messages.push(structuredClone(message));
      controller.enqueue(message);
    },
  });
}

function witnessed(stream) {
  const outgoing = witness(wire.client);
  outgoing.readable.pipeTo(stream.writable).catch(() => {}); // told to the SDK by its own write
  return { writable: outgoing.writable, readable: stream.readable.pipeThrough(witness(wire.agent)) };
}

async function onUpdate({ params, agent }) {
  const { sessionId, update } = params;
  updates.push(update.sessionUpdate);
  if (update.sessionUpdate === "state_update" && update.state === "idle") idle(update.stopReason);
  if (update.sessionUpdate === "agent_message_chunk") {
    heard.push(update.content.text);
    if (update.content.text.startsWith("Waiting")) {
      await agent.notify(toAgent.session.cancel, { sessionId });
    }
  }
}

function onPermission({ params }) {
  subjects.push(params.subject?.type);
  const chosen = params.options.find((option) => option.kind === "allow_once");
  return { outcome: { outcome: "selected", optionId: chosen.optionId } };
}

async function turn(agent, sessionId, prompt) {
  const ended = nextIdle();
  const { messageId } = await agent.request(toAgent.session.prompt, { sessionId, prompt });
  return { messageId, stopReason: await ended };
}

async function converse(agent) {
  const ready = await agent.request(toAgent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    info: { name: "peers-v2-client", title: "Notes Client ✓", version: "4.5.6" },
    capabilities: {},
  });
  const { sessionId } = await agent.request(toAgent.session.new, { cwd: folder, mcpServers: [] });
  const turns = [
    await turn(agent, sessionId, [
      { type: "text", text: "Tidy up the notes ✓" },
      { type: "resource_link", name: "folder", uri: `file://${folder}` },
    ]),
  ];
  await agent.notify("_peers/note", { about: "nothing" });
  const echo = await agent.request("_peers/echo", { text: "ça va", big: Number.MAX_SAFE_INTEGER });
  const refused = await agent.request("_peers/unknown", {}).then(
    () => null,
    (error) => error.code,
  );
  turns.push(await turn(agent, sessionId, [{ type: "text", text: "wait" }]));
  await agent.request(toAgent.session.close, { sessionId });
  return {
    protocolVersion: ready.protocolVersion,
    agent: ready.info.name,
    sessionId,
    turns,
    echo,
    refused,
  };
}

const [command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const ended = once(agent, "exit");
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const seen = await acp
  .client({ name: "peers-v2-client" })
  .onNotification(toClient.session.update, onUpdate)
  .onNotification("_peers/heard", anything, ({ params }) => {
    heard.push(`_peers/heard ${JSON.stringify(params)}`);
  })
  .onRequest(toClient.session.requestPermission, onPermission)
  .connectWith(witnessed(stream), converse);
agent.stdin.end();
const [exitCode, signal] = await ended;
Object.assign(seen, { agentExit: exitCode, agentSignal: signal, updates, subjects, heard, wire });
process.stdout.write(`${JSON.stringify(seen, null, 1)}\n`);
