// The demo: the examples run through a week in a minute, on one clock for server, controllers and simulated
// controllers. The minute itself is virtual here, so nothing is measured and nothing sleeps.

import { tokenAuthenticator } from '@lapse/apiserver/authn/auth';
import { createServer } from '@lapse/apiserver/server';
import { hours, instant, type Millis, millis, minus, minutes, seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import { KubeEvent } from '@lapse/runtime/events/build';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { createUserClient } from '@lapse/simulation/userClient';
import { LiveTimeline } from 'lapse/cli/up/liveTimeline';
import { LocalCluster } from 'lapse/cli/up/localCluster';
import { panelLines } from 'lapse/cli/up/panel';
import { createTempo } from 'lapse/cli/up/speed';
import type { Overview } from 'lapse/cli/up/tally';
import { WEEK_DEFAULTS, Week } from 'lapse/cli/up/week/week';
import { FAMILIES } from 'lapse/controllers/registry';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect, test } from 'vitest';

const DEFAULTS = {
  ...WEEK_DEFAULTS,
  actAs: 'controller',
  featureGates: { AllAlpha: true },
  leaderElection: { enabled: false },
};
const SPEED = 10_080;
const DAYS = [1, 2, 3, 4, 5, 6, 7];
/** One redraw of the screen per hour. */
const LOOKS = 24 * 7;

/** As planned: first objects created too late in the week to expire in it, then objects that never expire. */
const LEFT = [
  'volumecapturerequest/before-the-upgrade-7 deleted',
  'job/old-report-7 deleted',
  'pipelinerun/build-2-5 deleted',
  'pipelinerun/build-2-6 deleted',
  'pipelinerun/build-2-7 deleted',
  'pipelinerun/release-7 deleted',
  'job/under-study kept',
  'pod/misspelled kept',
  'pipelinerun/build-3 kept',
  'pipelinerun/under-study kept',
  'job/evidence kept',
];

test('a week in a minute: every family deletes something on every day, each at its own instant', async () => {
  const real = new VirtualClock(instant(1_767_225_600_000));
  const tempo = createTempo(SPEED, real);
  const { clock } = tempo;
  const random = seededRandom(1);
  const admin = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
  const authenticator = tokenAuthenticator(new Map([['t', admin]]));
  const server = await createServer({ clock, random, authenticator });
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {}, defaults: DEFAULTS });
  const shown: string[] = [];
  const write = (text: string) => void shown.push(text);
  const options = {
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: FAMILIES,
    simulatedControllers: simulatedControllersNamed(['*']),
    externalKinds: STOCK_SNAPSHOT_KINDS,
    timeline: new LiveTimeline({ clock, write }),
    clock,
    isPaced: true,
    blink: minutes(42),
    random,
    log: silentLog,
  };
  const everything = new LocalCluster(server.handle, 't', options);
  const rest = () => everything.rest(server);
  // Real time advances only when the virtual one has kept up with it.
  const pass = (length: Millis, speed: number) => {
    const from = { real: real.elapsed(), virtual: clock.now() };
    const isBehind = () => clock.now() < from.virtual + (real.elapsed() - from.real) * speed;
    return real.advance(length, async () => {
      do await nextTurn();
      while (isBehind() || real.next() === undefined);
    });
  };
  tempo.start(rest);
  await everything.start(server);
  const said: string[] = [];
  const stamp = (at: number) => new Date(at).toISOString();
  const week = new Week(everything, { ...options, stamp, say: (text) => void said.push(text) });
  await week.play.open(() => false);
  await createUserClient(everything.user).apply(
    `{apiVersion: batch/v1, kind: Job, metadata: {name: odd, annotations: {simulation.lapse.dev/finish: soon}},
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`,
  );
  const begun = clock.now();
  tempo.hurry();
  week.play.begin();

  const overviews: Overview[] = [await everything.overview()];
  const seen = new Map<string, number>();
  for (const _ of DAYS) {
    for (let i = 0; i < LOOKS / 7; i++) {
      await pass(millis(minutes(1) / LOOKS), SPEED);
      const now = await everything.overview();
      for (const { family, waiting, last } of now.standings)
        if (waiting > 0 || minus(now.now, last?.at ?? instant(0)) < hours(12))
          seen.set(family, (seen.get(family) ?? 0) + 1);
      for (const line of panelLines(now, {
        columns: 80,
        rows: 24,
        speed: SPEED,
        stamp: () => 'Mon 00:00:00',
      }))
        expect(line.length).toBeLessThan(80);
    }
    overviews.push(await everything.overview());
  }
  // The clock of the demo may be a tick behind.
  await pass(seconds(1), SPEED);
  expect(minus(clock.now(), begun)).toBeGreaterThanOrEqual(hours(7 * 24));

  const endedBy = (overview: Overview, family: string) =>
    overview.standings.find((one) => one.family === family)?.done ?? 0;
  for (const { name } of FAMILIES) {
    const daily = DAYS.map((day) => endedBy(overviews[day]!, name) - endedBy(overviews[day - 1]!, name));
    expect(Math.min(...daily), `${name}: ${daily}`).toBeGreaterThan(0);
    expect(seen.get(name), name).toBeGreaterThan(LOOKS / 2);
  }
  // Printed once, at the end of the week: what was deleted, nothing late, and what is left.
  const summary = said.join('');
  expect(summary.match(/the week is over\nin 7d: \d+ done/g)).toHaveLength(1);
  expect(new Set(summary.match(/at most \S+ late/g))).toEqual(new Set(['at most 0s late']));
  const left = [...summary.matchAll(/^ {2}(\S+) +(deleted|kept)/gm)].map(([, ref, what]) => `${ref} ${what}`);
  expect(left).toEqual(LEFT);
  // The next deletion is the first of the remaining ones. The keeper deleted with it is named here.
  const [, at] = /\(next: \S+ at (\S+)\)/.exec(summary)!;
  expect(summary).toMatch(new RegExp(`^left, \\d+:\n {2}\\S+ +deleted ${at}:`, 'm'));
  const { standings } = await everything.overview();
  expect(standings.reduce((sum, { failed }) => sum + failed, 0)).toBe(0);
  // The speed made no deletion late.
  expect(shown.join('').match(/lag=(?!0s|0\.0|-)\S+/g) ?? []).toEqual([]);
  // The simulated controllers report: an annotation they cannot parse is an Event.
  const { items } = await everything.user.list(KubeEvent);
  expect(items.some(({ regarding, note }) => regarding.name === 'odd' && /finish/.test(note ?? ''))).toBe(
    true,
  );

  const stopped = everything.stop();
  await pass(seconds(1), 1);
  await stopped;
  await tempo.stop();
  await server.close();
}, 240_000);
