// Writes what Vercel's AI SDK says of the conversation: model messages and messages of the user interface.
//
// Run it from a folder with `ai` (4 or 5) and `zod` among its node_modules:
//   node make_ai_sdk.mjs CONVERSATION.json OUT_FOLDER
// CONVERSATION.json is what `python -m tests.grading.parsing.made.conversation` prints. The loop is the library's; its own
// mock stands in for the model.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(path.join(process.cwd(), 'x.js')));
const ai = await import(pathToFileURL(require.resolve('ai')));
const test = await import(pathToFileURL(require.resolve('ai/test')));
const { z } = await import(pathToFileURL(require.resolve('zod')));
const release = JSON.parse(fs.readFileSync(require.resolve('ai/package.json'))).version;
const major = release.split('.')[0];
const the = JSON.parse(fs.readFileSync(process.argv[2]));

let turn = 0;
let answered = false;
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, promptTokens: 1, completionTokens: 1 };
const prepared = () => {
  if (answered) {
    answered = false;
    return { text: the.answers[turn++], calls: [] };
  }
  answered = true;
  return { text: turn === 0 ? the.looking : '', thought: turn === 0, calls: the.calls[turn] };
};
const tools = {
  get_order: ai.tool({
    description: 'Looks up an order.',
    [major === '4' ? 'parameters' : 'inputSchema']: z.object({ id: z.string() }),
    execute: async ({ id }) => the.orders[id],
  }),
  get_stock: ai.tool({
    description: 'Counts what is there.',
    [major === '4' ? 'parameters' : 'inputSchema']: z.object({ sku: z.number() }),
    execute: async () => { throw new Error(the.failure); },
  }),
};
const streamOf = (chunks) => ai.simulateReadableStream({ chunks });

const model5 = () => new test.MockLanguageModelV2({
  doStream: async () => {
    const { text, thought, calls } = prepared();
    const chunks = [{ type: 'stream-start', warnings: [] }];
    if (thought) chunks.push({ type: 'reasoning-start', id: 'r' }, { type: 'reasoning-delta', id: 'r', delta: 'Two things to look up.' }, { type: 'reasoning-end', id: 'r' });
    if (text) chunks.push({ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: text }, { type: 'text-end', id: 't' });
    for (const [id, name, args] of calls) chunks.push({ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(args) });
    chunks.push({ type: 'finish', finishReason: calls.length ? 'tool-calls' : 'stop', usage });
    return { stream: streamOf(chunks) };
  },
});
const model4 = () => new test.MockLanguageModelV1({
  doStream: async () => {
    const { text, thought, calls } = prepared();
    const chunks = [];
    if (thought) chunks.push({ type: 'reasoning', textDelta: 'Two things to look up.' });
    if (text) chunks.push({ type: 'text-delta', textDelta: text });
    for (const [id, name, args] of calls) chunks.push({ type: 'tool-call', toolCallType: 'function', toolCallId: id, toolName: name, args: JSON.stringify(args) });
    chunks.push({ type: 'finish', finishReason: calls.length ? 'tool-calls' : 'stop', usage });
    return { stream: streamOf(chunks), rawCall: { rawPrompt: null, rawSettings: {} } };
  },
});

const save = (name, document) => {
  const lines = document.map((each) => JSON.stringify(each)).join(',\n').replace(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"2026-01-01T00:00:00Z"');
  fs.writeFileSync(path.join(process.argv[3], `${name}.json`), `{"made_by": "ai ${release}", "document": [\n${lines}\n]}\n`);
};

async function five() {
  const model = model5();
  const said = [{ role: 'system', content: the.system }];
  const shown = [{ id: 's', role: 'system', parts: [{ type: 'text', text: the.system }] }];
  for (const question of the.questions) {
    said.push({ role: 'user', content: question });
    shown.push({ id: `u${shown.length}`, role: 'user', parts: [{ type: 'text', text: question }] });
    const result = ai.streamText({ model, tools, messages: said, stopWhen: ai.stepCountIs(5) });
    let last;
    for await (const message of ai.readUIMessageStream({ stream: result.toUIMessageStream({ onError: (error) => error.message }) })) last = message;
    shown.push(last);
    said.push(...(await result.response).messages);
  }
  save('ai_sdk_5_model_messages', said);
  save('ai_sdk_5_ui_messages', shown);
}

async function four() {
  const model = model4();
  const said = [{ role: 'system', content: the.system }];
  let shown = [{ id: 's', role: 'system', content: the.system, parts: [{ type: 'text', text: the.system }] }];
  // Version 4 ends a turn when a tool throws, so that its tool answers with what the others throw.
  const kind = { ...tools, get_stock: { ...tools.get_stock, execute: async () => the.failure } };
  for (const question of the.questions) {
    said.push({ role: 'user', content: question });
    shown.push({ id: `u${shown.length}`, role: 'user', content: question, parts: [{ type: 'text', text: question }] });
    const result = ai.streamText({ model, tools: kind, messages: said, maxSteps: 5 });
    await result.consumeStream();
    const { messages } = await result.response;
    said.push(...messages);
    shown = ai.appendResponseMessages({ messages: shown, responseMessages: messages });
  }
  save('ai_sdk_4_core_messages', said);
  save('ai_sdk_4_ui_messages', shown);
}

await (major === '4' ? four() : five());
