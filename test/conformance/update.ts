// Runs every recorded case against the embedded server and rewrites known.json (passing cases leave it, new failures
// join it as `todo`) and differences.md. With --failures FILE it also writes the first difference of each failing
// case there, for whoever works on the server. Usage: node test/conformance/update.ts [--failures FILE]

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeDifferences } from './differences.ts';
import { startEmbedded } from './embeddedTarget.ts';
import { loadKnown, saveKnown, updated } from './known.ts';
import { loadCases, runAll } from './replay/cases.ts';
import type { Verdict } from './replay/types.ts';

const { values } = parseArgs({ options: { failures: { type: 'string' }, dry: { type: 'boolean' } } });

const started = Date.now();
const target = await startEmbedded();
const verdicts = await runAll(loadCases(), target, { width: 24 });
await target.close();

if (values.failures !== undefined) writeFileSync(values.failures, failuresText(verdicts, target.unexpected));
if (!values.dry) {
  saveKnown(updated(loadKnown(), verdicts));
  writeDifferences();
}
const count = (kind: Verdict['kind']) => [...verdicts.values()].filter((v) => v.kind === kind).length;
const seconds = ((Date.now() - started) / 1000).toFixed(1);
process.stdout.write(
  `${count('passed')} pass, ${count('failed')} fail, ${count('skipped')} skipped in ${seconds} s\n`,
);
process.exit();

function failuresText(all: ReadonlyMap<string, Verdict>, unexpected: readonly string[]): string {
  const order = loadCases().map((c) => c.title);
  const lines = order.flatMap((title) => {
    const verdict = all.get(title)!;
    return verdict.kind === 'failed' ? [`FAIL  ${title}\n      ${verdict.difference}`] : [];
  });
  const errors =
    unexpected.length === 0 ? [] : ['', 'Unexpected errors inside the server:', ...new Set(unexpected)];
  return [...lines, ...errors, ''].join('\n');
}
