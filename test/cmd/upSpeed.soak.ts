// The demo: the examples play through a week in a minute, on one clock for server, controllers and stand-ins. The minute
// itself is virtual here, so nothing is measured and nothing sleeps.

import { expect, test } from 'vitest';
import { tokenAuthenticator } from '#apiserver/auth';
import { createServer } from '#apiserver/server';
import { hours, instant, type Millis, minus, minutes, seconds } from '#base/instant';
import { silentLog } from '#base/log';
import { seededRandom } from '#base/random';
import { nextTurn } from '#base/turn';
import { VirtualClock } from '#base/virtualClock';
import { readGeneral } from '#cmd/configuration/general';
import { loadConfiguration } from '#cmd/configuration/load';
import { Everything } from '#cmd/up/everything';
import { readExamples } from '#cmd/up/examples';
import { LiveTimeline } from '#cmd/up/liveTimeline';
import { createTempo } from '#cmd/up/speed';
import { FAMILIES } from '#controllers/registry';
import { KubeEvent } from '#runtime/events/build';
import { createHands } from '#sim/hands';
import { SNAPSHOT_KINDS } from '#standins/snapshotKinds';
import { standinsNamed } from '#standins/standins';

const DEFAULTS = {
  actAs: 'controller',
  featureGates: { AllAlpha: true },
  leaderElection: { enabled: false },
};

test('a week in a minute: every example ends what it says, each at its own instant', async () => {
  const real = new VirtualClock(instant(1_767_225_600_000));
  const tempo = createTempo(10_080, real);
  const { clock } = tempo;
  const random = seededRandom(1);
  const admin = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
  const authenticator = tokenAuthenticator(new Map([['t', admin]]));
  const server = await createServer({ clock, random, authenticator });
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {}, defaults: DEFAULTS });
  const shown: string[] = [];
  const write = (text: string) => void shown.push(text);
  const everything = new Everything(server.handle, 't', {
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: FAMILIES,
    standins: standinsNamed(['*']),
    externalKinds: SNAPSHOT_KINDS,
    timeline: new LiveTimeline({ clock, write }),
    clock,
    isPaced: true,
    random,
    log: silentLog,
  });
  const rest = () => everything.rest(server);
  // Real time goes on only when the virtual one has kept up with it.
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
  const hands = createHands(everything.user);
  for (const { text } of readExamples()) await hands.apply(text);
  await hands.apply(
    `{apiVersion: batch/v1, kind: Job, metadata: {name: odd, annotations: {standin.lapse.dev/finish: soon}},
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`,
  );
  const begun = clock.now();
  tempo.hurry();
  await pass(minutes(1), 10_080);
  expect(minus(clock.now(), begun)).toBeGreaterThanOrEqual(hours(7 * 24));

  const { standings } = everything.overview();
  const ended = new Map(standings.map((standing) => [standing.controller, standing.ended]));
  for (const controller of ['ttl-after-finished', 'ttl-after-finished-pods', 'cleaner', 'object-keeper'])
    expect(ended.get(controller), controller).toBeGreaterThan(0);
  expect(standings.reduce((sum, { failed }) => sum + failed, 0)).toBe(0);
  // Nobody was late because somebody asked for speed.
  expect(shown.join('').match(/lag=(?!0s|0\.0)\S+/g) ?? []).toEqual([]);
  expect(everything.summary(String)).toMatch(/^in 7d.*: \d+ ended/);
  // Stand-ins are heard: what they do not understand is an Event.
  const { items } = await everything.user.list(KubeEvent);
  expect(items.some(({ regarding, note }) => regarding.name === 'odd' && /finish/.test(note ?? ''))).toBe(
    true,
  );

  const stopped = everything.stop();
  await pass(seconds(1), 1);
  await stopped;
  await tempo.stop();
  await server.close();
}, 60_000);
