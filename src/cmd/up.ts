// lapse up: everything in one process, for a first look. The embedded server, every controller, stand-ins for what a
// cluster has and a bare API server lacks, the examples, and a timeline of what waits and what ends.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { HttpHandler } from '#api/http';
import type { LocalService } from '#apiserver/aggregation/localOutbound';
import { realClock } from '#base/clock';
import { millis } from '#base/instant';
import { systemRandom } from '#base/random';
import { sleep } from '#base/sleep';
import { FAMILIES } from '#controllers/registry';
import { createHands } from '#sim/hands';
import { SNAPSHOT_KINDS } from '#standins/snapshotKinds';
import { STANDINS, standinsNamed } from '#standins/standins';
import { LOCAL_READ_API, localReadApi, registerLocalReadApi } from './checkpoint/local.ts';
import { readGeneral } from './configuration/general.ts';
import { loadConfiguration } from './configuration/load.ts';
import { type Embedded, startEmbedded } from './embedded.ts';
import { withSettings } from './flags.ts';
import { type Hosts, openHosts } from './hosts.ts';
import { openLog } from './logs.ts';
import { collectModules, joinFamilies, loadModules } from './modules.ts';
import { selectFamilies } from './selection.ts';
import { embeddedOptions, type ServerFlags, withServerFlags } from './server.ts';
import { leave, untilAskedToStop } from './signals.ts';
import { Everything, type EverythingOptions } from './up/everything.ts';
import { readExamples } from './up/examples.ts';
import { firstScreen } from './up/screen.ts';
import { createTempo, parseSpeed, storeAtSpeed, type Tempo } from './up/speed.ts';
import { View } from './up/view.ts';
import { explained } from './usage.ts';

interface UpFlags extends ServerFlags {
  readonly standins: string;
  readonly speed: string;
  readonly examples: boolean;
  readonly module?: readonly string[];
}

/** What a first look needs otherwise than a cluster: everything on, nobody else about, the terminal for the timeline. */
const DEFAULTS = {
  actAs: 'controller',
  featureGates: { AllAlpha: true },
  leaderElection: { enabled: false },
  metrics: { bindAddress: '0' },
  log: { level: 'error', format: 'text' },
};
const ONLY_IN_CLUSTERS = (flag: string) => /^(leader-elect|webhook|kube-api)/.test(flag);

export function upCommand(): Command {
  const command = withServerFlags(new Command('up'))
    .description('a cluster-shaped thing in one process: API server, controllers, stand-ins, examples')
    .option('--standins <names>', 'what stands in for the rest of a cluster, as for --controllers', '*')
    .option('--module <file>', 'run the controllers this file exports too; may be repeated', collectModules)
    .option('--speed <n>', 'how many times faster than life time runs; 10080 is a week in a minute', '1')
    .option('--no-examples', 'do not apply the examples on the first start');
  const settings = withSettings(command, FAMILIES, ONLY_IN_CLUSTERS);
  return command.addHelpText('after', helpText()).action(async (asked: UpFlags, parsed: Command) => {
    let stopping = false;
    const stop = untilAskedToStop().then(() => {
      stopping = true;
    });
    const speed = parseSpeed(asked.speed);
    const isGiven = (flag: string) => parsed.getOptionValueSource(flag) === 'cli';
    const flags = { ...asked, store: storeAtSpeed(speed, asked, isGiven) };
    const tempo = createTempo(speed);
    const view = new View({ output: process.stdout, clock: tempo.clock, speed });
    const plan = await makePlan(flags, settings.given(parsed), { tempo, view });
    const { embedded, everything } = await startAll(flags, plan);
    tempo.start(() => everything.rest(embedded.server));
    const hosts = await openStatusHost(everything, plan);
    await everything.start(embedded.server);
    const isRead = plan.selected.some(({ name }) => name === 'manifest-capture');
    await registerLocalReadApi(everything.assembly.services.client, isRead);
    const first = greet(flags, plan, embedded);
    if (first) await applyExamples(everything, view, () => stopping);
    if (first && !stopping && flags.store === 'sqlite') writeFileSync(marker(flags), '');
    tempo.hurry();
    view.follow(everything);
    await stop;
    view.end();
    view.say(`\n${everything.summary((at) => view.timeline.stamp(at))}\n`);
    await everything.stop();
    await tempo.stop();
    await hosts.close();
    view.say(await close(embedded, flags));
    leave();
  });
}

interface Plan extends EverythingOptions {
  readonly view: View;
}

/** What is to run, and how; throws UsageError before anything is started. */
async function makePlan(
  flags: UpFlags,
  given: Readonly<Record<string, string>>,
  { tempo, view }: { tempo: Tempo; view: View },
): Promise<Plan> {
  const known = joinFamilies(FAMILIES, await loadModules(flags.module ?? []));
  const sources = { flags: given, environment: process.env, defaults: DEFAULTS };
  const document = loadConfiguration(known, sources);
  const general = readGeneral(document);
  const all = known.map((family) => ({ ...family, defaultOn: true }));
  return {
    general,
    document,
    known: all,
    selected: selectFamilies(all, general.controllers ?? ['*']),
    standins: explained('--standins', () => standinsNamed(flags.standins.split(','))),
    externalKinds: SNAPSHOT_KINDS,
    timeline: view.timeline,
    view,
    clock: tempo.clock,
    isPaced: tempo.clock !== realClock,
    random: systemRandom,
    log: openLog(general),
  };
}

interface Started {
  readonly embedded: Embedded;
  readonly everything: Everything;
}

/** Everything sits between the server and its socket: it sees who writes what. */
async function startAll(flags: UpFlags, plan: Plan): Promise<Started> {
  const options = embeddedOptions(flags);
  let everything: Everything | undefined;
  const around = (handle: HttpHandler, token: string): HttpHandler => {
    everything = new Everything(handle, token, plan);
    return options.around?.(everything.handle) ?? everything.handle;
  };
  const services = { [LOCAL_READ_API]: readApiOf(plan, () => everything!) };
  const embedded = await startEmbedded({ ...options, around, services, clock: plan.clock });
  return { embedded, everything: everything! };
}

/** Checkpoints through the API server, as in a cluster; made when it is first called. */
function readApiOf({ clock, log, general }: Plan, of: () => Everything): LocalService {
  let made: LocalService | undefined;
  const make = () => {
    const { client } = of().assembly.services;
    return localReadApi({ client, clock, log, maxObjects: general.api.maxObjects });
  };
  return (request, headers) => {
    made ??= make();
    return made(request, headers);
  };
}

function openStatusHost({ assembly, user }: Everything, { general, clock, log }: Plan): Promise<Hosts> {
  const { manager, registry } = assembly;
  const where = { inCluster: false, namespace: 'default' };
  return openHosts({ ...where, general, manager, registry, admission: [], clock, log, client: user });
}

/** True when there are examples to apply. */
function greet(flags: UpFlags, plan: Plan, embedded: Embedded): boolean {
  const examples = flags.examples && isFirstStart(flags);
  const screen = firstScreen({
    url: embedded.listener.url,
    kubeconfig: embedded.kubeconfig,
    data: flags.data,
    store: flags.store,
    controllers: plan.selected.map(({ name }) => name),
    standins: plan.standins.map(({ name }) => name),
    examples,
    colour: plan.view.isColourful,
  });
  plan.view.say(screen);
  return examples;
}

const marker = ({ data }: ServerFlags): string => join(data, 'examples-applied');
const isFirstStart = (flags: ServerFlags): boolean => flags.store === 'memory' || !existsSync(marker(flags));

/** One that the server does not take says so, and keeps nobody else from being applied. */
async function applyExamples(everything: Everything, view: View, isOver: () => boolean): Promise<void> {
  for (const { name, text } of readExamples()) {
    if (isOver()) return;
    const problem = await applyPatiently(everything, text);
    if (problem !== undefined) view.say(`          examples/${name} was not applied: ${problem}\n`);
  }
}

const TRIES = 10;

/** A kind that the file before has defined takes a moment to be served. */
async function applyPatiently({ user }: Everything, text: string): Promise<string | undefined> {
  const hands = createHands(user);
  for (let tries = 1; ; tries++) {
    try {
      await hands.apply(text);
      return undefined;
    } catch (cause) {
      const { message } = cause as Error;
      if (tries === TRIES || !message.includes('not served')) return message;
    }
    await sleep(realClock, millis(100 * tries));
    user.discovery.invalidate();
  }
}

async function close(embedded: Embedded, flags: ServerFlags): Promise<string> {
  const revision = embedded.server.revision();
  await embedded.close();
  const kept = flags.store === 'sqlite' ? 'the data is kept' : 'nothing was kept (memory store)';
  return `stopped at revision ${revision}; ${kept}\n`;
}

function helpText(): string {
  const row = ({ name, description }: { name: string; description: string }) =>
    `  ${name.padEnd(20)} ${description}`;
  const lists = ['Controllers:', ...FAMILIES.map(row), '', 'Stand-ins:', ...STANDINS.map(row)];
  const examples = [
    '  lapse up                          real time; what is made survives a restart',
    '  lapse up --speed 10080            the examples play through a week in a minute',
    '  lapse up --speed 60 --no-examples --controllers=ttl-after-finished',
  ];
  return ['', ...lists, '', 'Examples:', ...examples].join('\n');
}
