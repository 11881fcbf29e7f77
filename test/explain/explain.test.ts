// `lapse explain`, situation by situation, with its exact output; and its errors for everything it cannot explain.

import { explanationJson, explanationYaml } from 'lapse/cli/explain/document';
import { explanationText } from 'lapse/cli/explain/text';
import { Refused } from 'lapse/forecast/explain/findObject';
import { namingAmong, parseTarget, resolveKind } from 'lapse/forecast/resolveKind';
import { UsageError } from 'lapse/manager/usage';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { explainIn } from './answer.ts';
import { readSituations, rewriteAnswer } from './situations.ts';
import { makeWorld, parseObjects, SERVED } from './world.ts';

const situations = readSituations();

test('there are many situations, about every family', () => {
  expect(situations.length).toBeGreaterThanOrEqual(40);
  expect(new Set(situations.map(({ file }) => file)).size).toBeGreaterThanOrEqual(7);
});

test.each(situations.map((it) => [`${it.file}: ${it.name}`, it] as const))('%s', async (_, it) => {
  const [lapse, explain, ...words] = it.command;
  expect([lapse, explain]).toEqual(['lapse', 'explain']);
  const explanation = await explainIn(makeWorld(parseObjects(it.given)), words, it.given);
  const answer = explanationText(explanation, { naming: namingAmong(SERVED) });
  if (process.env.UPDATE_SITUATIONS) rewriteAnswer(it, answer);
  else expect(answer).toBe(it.answer);
});

const JOB = `
apiVersion: batch/v1
kind: Job
metadata: { name: report, namespace: ci }
spec: { ttlSecondsAfterFinished: 3600 }
status: { conditions: [{ type: Complete, status: "True", lastTransitionTime: 2026-03-01T11:30:00Z }] }
`;

describe('for programs', () => {
  test('JSON and YAML output are equal, with times in Kubernetes format', async () => {
    const explanation = await explainIn(makeWorld(parseObjects(JOB)), ['job/report', '-n', 'ci']);
    const json: unknown = JSON.parse(explanationJson(explanation));
    expect(parse(explanationYaml(explanation))).toEqual(json);
    expect(json).toMatchObject({
      object: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'ci', name: 'report' },
      now: '2026-03-01T12:00:00Z',
      decision: {
        kind: 'deleted',
        at: '2026-03-01T12:30:00Z',
        by: { family: 'ttl-after-finished', propagation: 'Foreground' },
      },
      unread: [],
    });
  });
});

describe('what cannot be explained', () => {
  const ask = (words: string[], forbidden: string[] = []) =>
    explainIn(makeWorld(parseObjects(JOB), forbidden), words);

  test.each([
    [['job'], 'expected KIND/NAME, such as job/report-42, got "job"'],
    [['/report'], 'expected KIND/NAME, such as job/report-42, got "/report"'],
    [['job/'], 'expected KIND/NAME, such as job/report-42, got "job/"'],
    [['job/a', 'job/b'], 'expected one KIND/NAME, got "job/a job/b"'],
    [['job/a/b'], 'expected one KIND/NAME, got "job/a/b"'],
    [['jbo/report'], 'the cluster serves no kind "jbo"; did you mean jobs.batch?'],
    [['pipelinrun/x'], 'the cluster serves no kind "pipelinrun"; did you mean pipelineruns.tekton.dev?'],
    [['dragon/x'], 'the cluster serves no kind "dragon"; kubectl api-resources lists them'],
    [['jobs.apps/x'], 'the cluster serves no kind "jobs.apps"; did you mean jobs.batch?'],
    [['pr/x'], 'kind "pr" is ambiguous: use pipelineruns.tekton.dev or previews.shop.example.com'],
    [['job/nope'], 'Job "nope" in namespace default not found'],
    [['job/report'], 'Job "report" in namespace default not found; found in ci: add -n ci'],
    [['node/report'], 'Node "report" not found'],
  ])('%j', async (words, message) => {
    await expect(ask(words)).rejects.toThrow(new UsageError(message));
  });

  test('reports an object that may not be read, with the message of the cluster', async () => {
    await expect(ask(['job/report', '-n', 'ci'], ['jobs'])).rejects.toThrow(
      new Refused(
        'may not read jobs.batch "report" in namespace ci: jobs is forbidden: User "dev" cannot read it',
      ),
    );
  });

  test('reports other unreadable objects beside the answer', async () => {
    const { decision, unread } = await ask(['job/report', '-n', 'ci'], ['ttlpolicies', 'namespaces']);
    expect(decision.kind).toBe('deleted');
    expect(unread).toEqual([
      'ttl-policy: ttlpolicies: ttlpolicies is forbidden: User "dev" cannot read it',
      'Namespace ci: namespaces is forbidden: User "dev" cannot read it',
    ]);
  });
});

describe('names of kinds', () => {
  test.each([
    ['job', 'jobs'],
    ['JOBS', 'jobs'],
    ['Job.batch', 'jobs'],
    ['jobs.v1.batch', 'jobs'],
    ['po', 'pods'],
    ['pr.tekton.dev', 'pipelineruns'],
    ['cln', 'cleaners'],
  ])('%s', (word, resource) => expect(resolveKind(SERVED, word).resource).toBe(resource));

  test('the core group comes before others of the same name, and preferred versions before older ones', () => {
    const pods = SERVED.find(({ resource }) => resource === 'pods')!;
    const old = { ...SERVED.find(({ resource }) => resource === 'jobs')!, version: 'v1beta1' };
    const more = [{ ...pods, group: 'metrics.k8s.io' }, ...SERVED, old];
    expect(resolveKind(more, 'pods').group).toBe('');
    expect(resolveKind(more, 'job').version).toBe('v1');
    expect(resolveKind(more, 'jobs.v1beta1.batch').version).toBe('v1beta1');
  });

  test('two words are equivalent to KIND/NAME', () => {
    expect(parseTarget(['job', 'report'])).toEqual(parseTarget(['job/report']));
  });
});

test('reads only what is needed', async () => {
  const world = makeWorld(parseObjects(JOB));
  await explainIn(world, ['job/report', '-n', 'ci']);
  const jobs = world.reads.filter((read) => read.includes('jobs'));
  expect(jobs).toEqual(['get jobs report', 'list jobs in ci metadata.name=report']);
  expect(world.reads.length).toBe(new Set(world.reads).size);
});

test('looks for owned objects in the namespace of the object', async () => {
  const world = makeWorld(parseObjects(JOB));
  await explainIn(world, ['job/report', '-n', 'ci', '--cascade']);
  expect(world.reads).toContain('list secrets in ci');
  expect(world.reads).not.toContain('list secrets');
});

test('wraps reasons on a terminal, but not commands to copy', async () => {
  const explanation = await explainIn(makeWorld(parseObjects(JOB)), ['job/report', '-n', 'ci']);
  const wide = explanationText(explanation);
  const narrow = explanationText(explanation, { columns: 60 });
  const words = (text: string) => text.split(/\s+/).join(' ');
  expect(words(narrow)).toBe(words(wide));
  const long = narrow.split('\n').filter((line) => line.length > 60);
  expect(wide.split('\n').some((line) => /^ {2}because .{60}/.test(line))).toBe(true);
  expect(long.filter((line) => !/^(job| {2}next)/.test(line))).toEqual([]);
  expect(narrow).toMatch(/^ {2}because {3}\S.*\n {12}\S/m);
});

test('escapes control characters of names on a terminal', async () => {
  const world = makeWorld(parseObjects(JOB.replaceAll('3600', '"\\u001b[31mred\\u202e"')));
  const text = explanationText(await explainIn(world, ['job/report', '-n', 'ci']));
  expect(text).not.toMatch(/[\u001b\u202e]/);
});
