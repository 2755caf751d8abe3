// Sends what Vercel's AI SDK records of the conversation, as OTLP in JSON, and writes the file of the tests.
//
// Run it from a folder with `ai` (5), `@ai-sdk/openai-compatible`, `zod`, `@opentelemetry/sdk-trace-node` and
// `@opentelemetry/exporter-trace-otlp-http` among its node_modules, beside `python -m tests.grading.telemetry.local_model`:
//   node make_ai_sdk.mjs CONVERSATION.json ADDRESS OUT_FILE
// CONVERSATION.json is what `python -m tests.grading.parsing.made.conversation` prints, ADDRESS what the server prints. Client,
// loop, tracer and exporter are the libraries' own.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(path.join(process.cwd(), 'x.js')));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { generateText, tool, stepCountIs } = await load('ai');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
const { z } = await load('zod');
const { NodeTracerProvider, SimpleSpanProcessor } = await load('@opentelemetry/sdk-trace-node');
const { OTLPTraceExporter } = await load('@opentelemetry/exporter-trace-otlp-http');
const [the, address, out] = [JSON.parse(fs.readFileSync(process.argv[2])), process.argv[3], process.argv[4]];

// What the exporter sends is kept as it is.
const exports = [];
const keeper = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    exports.push(JSON.parse(Buffer.concat(chunks)));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
});
await new Promise((done) => keeper.listen(0, '127.0.0.1', done));
const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${keeper.address().port}/v1/traces` });
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
const tracer = provider.getTracer('ai');

const tools = {
  get_order: tool({
    description: 'Return an order.',
    inputSchema: z.object({ id: z.string() }),
    execute: async ({ id }) => the.orders[id],
  }),
  get_stock: tool({
    description: 'Return how many there are.',
    inputSchema: z.object({ sku: z.number().int() }),
    execute: async () => { throw new Error(the.failure); },
  }),
};
const model = createOpenAICompatible({ name: 'local', baseURL: address, apiKey: 'none' })('model-x');
const messages = [];
for (const question of the.questions) {
  messages.push({ role: 'user', content: question });
  const made = await generateText({
    model, tools, messages, system: the.system, stopWhen: stepCountIs(5),
    experimental_telemetry: { isEnabled: true, tracer, functionId: 'support', metadata: { sessionId: 's1', userId: 'u' } },
  });
  messages.push(...made.response.messages);
}
await provider.forceFlush();
keeper.close();
// Places of this machine are left out.
const kept = (value) => (Array.isArray(value)
  ? value.filter((item) => !/^(host|process|os)\.|stacktrace$/.test(item?.key ?? '')).map(kept)
  : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, kept(inner)])) : value);
const release = JSON.parse(fs.readFileSync(require.resolve('ai/package.json'))).version;
fs.writeFileSync(out, `${JSON.stringify({ made_by: `ai ${release}`, exports: kept(exports) }, null, 1)}\n`);
