// Runs every recorded case and every bad request against the embedded server and rewrites known.json and
// knownBadInput.json (passing cases are removed, new failures are added as `todo`) and differences.md. With --failures
// FILE it also writes the first difference of each failing case to that file, for debugging.
// Usage: node test/conformance/update.ts [--failures FILE]

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { prepareStage } from './badInput/stage.ts';
import { checkAll } from './badInput/suite.ts';
import { writeDifferences } from './differences.ts';
import { startEmbedded } from './embeddedTarget.ts';
import { loadKnown, saveKnown, updated } from './known.ts';
import { loadCases, runAll } from './replay/cases.ts';
import type { CaseResult } from './replay/types.ts';

const { values } = parseArgs({ options: { failures: { type: 'string' }, dry: { type: 'boolean' } } });

const started = Date.now();
const target = await startEmbedded();
const wire = await runAll(loadCases(), target, { width: 24 });
const badInput = await checkAll(target, await prepareStage(target));
await target.close();

if (values.failures !== undefined) {
  const unexpected =
    target.unexpected.length === 0
      ? []
      : ['Unexpected errors inside the server:', ...new Set(target.unexpected)];
  const order = loadCases().map((c) => c.title);
  const sorted = new Map(order.map((title) => [title, wire.get(title)!]));
  writeFileSync(values.failures, [...failures(sorted), ...failures(badInput), ...unexpected, ''].join('\n'));
}
if (!values.dry) {
  saveKnown('wire', updated(loadKnown('wire'), wire));
  saveKnown('badInput', updated(loadKnown('badInput'), badInput));
  writeDifferences();
}
const seconds = ((Date.now() - started) / 1000).toFixed(1);
process.stdout.write(`recorded cases: ${summary(wire)}; bad input: ${summary(badInput)}; ${seconds} s\n`);
process.exit();

function summary(results: ReadonlyMap<string, CaseResult>): string {
  const count = (kind: CaseResult['kind']) => [...results.values()].filter((v) => v.kind === kind).length;
  return `${count('passed')} pass, ${count('failed')} fail, ${count('skipped')} skipped`;
}

function failures(results: ReadonlyMap<string, CaseResult>): string[] {
  return [...results].flatMap(([title, result]) =>
    result.kind === 'failed' ? [`FAIL  ${title}\n      ${result.difference}`] : [],
  );
}
