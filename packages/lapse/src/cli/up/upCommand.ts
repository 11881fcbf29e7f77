// lapse up: everything in one process: the embedded API server, all controllers, simulated controllers for what a
// cluster has and a bare API server lacks, the examples, and a timeline.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalService } from '@lapse/apiserver/aggregation/localOutbound';
import { realClock } from '@lapse/base/clock';
import { type Instant, millis } from '@lapse/base/instant';
import { seededRandom, systemRandom } from '@lapse/base/random';
import type { HttpHandler } from '@lapse/kube/api/http';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { Command } from 'commander';
import { FAMILIES } from '#controllers/registry';
import { readGeneral } from '#manager/configuration/general';
import { loadConfiguration } from '#manager/configuration/load';
import { type Hosts, openHosts } from '#manager/hosts';
import { collectModules, joinFamilies, loadModules } from '#manager/loadModules';
import { selectFamilies } from '#manager/selection';
import { explained } from '#manager/usage';
import {
  SIMULATED_CONTROLLERS,
  selectSimulatedControllers,
  simulatedControllersNamed,
} from '#simulation/simulatedControllers';
import { LOCAL_READ_API, localReadApi, registerLocalReadApi } from '../checkpoint/local.ts';
import { wantsColour } from '../colour.ts';
import { type Embedded, startEmbedded } from '../embedded.ts';
import { withSettings } from '../flags.ts';
import { namedRows } from '../help.ts';
import { openLog } from '../logs.ts';
import { embeddedOptions, type ServerFlags, withServerFlags } from '../serverCommand.ts';
import { leave, untilAskedToStop } from '../signals.ts';
import { applyWithRetries } from './apply.ts';
import { readExamples } from './examples.ts';
import { LocalCluster, type LocalClusterOptions } from './localCluster.ts';
import { firstScreen } from './screen.ts';
import { renderSettings } from './settings.ts';
import { createTempo, parseSpeed, storeAtSpeed, type Tempo } from './speed.ts';
import { View } from './view.ts';
import { parseSeed, WEEK_DEFAULTS, Week } from './week/week.ts';

interface UpFlags extends ServerFlags {
  readonly simulatedControllers: string;
  readonly speed: string;
  readonly seed: string;
  readonly examples: boolean;
  readonly module?: readonly string[];
}

/** Defaults that differ from a cluster: all families enabled, no leader election, the terminal for the timeline. */
const DEFAULTS = {
  actAs: 'controller',
  // Where the configuration is recorded, so that lapse trash and lapse undo find it.
  trash: { namespace: 'kube-system' },
  featureGates: { AllAlpha: true },
  leaderElection: { enabled: false },
  // The embedded API server has this namespace from the start.
  cleaner: { authorKeySecret: { namespace: 'kube-system' }, impersonation: 'cluster' },
  ttlPolicy: { impersonation: 'cluster' },
  metrics: { bindAddress: '0' },
  log: { level: 'error', format: 'text' },
};
/** Real milliseconds in which a line cannot be read. */
const BLINK = 250;
const ONLY_IN_CLUSTERS = (flag: string) => /^(leader-elect|webhook|kube-api)/.test(flag);

export function upCommand(): Command {
  const command = withServerFlags(new Command('up'))
    .description('a local Kubernetes API server with all controllers, and examples')
    .option(
      '--simulated-controllers <names>',
      'controllers of a cluster to simulate, as for --controllers',
      '*',
    )
    .option(
      '--module <file>',
      'also run the controllers that this file exports; may be repeated',
      collectModules,
    )
    .option('--speed <n>', 'how many times faster than real time; 10080 is a week in a minute', '1')
    .option('--seed <n>', 'seed of the week that the examples run through at another speed than 1', '1')
    .option('--no-examples', 'do not apply the examples on the first start');
  const settings = withSettings(command, FAMILIES, { without: ONLY_IN_CLUSTERS, defaults: DEFAULTS });
  return command
    .addHelpText('after', helpText())
    .action((asked: UpFlags, parsed: Command) => runUp(asked, parsed, settings.given(parsed)));
}

/** Starts everything, waits for a signal, and stops. `given` are the settings on the command line. */
async function runUp(
  asked: UpFlags,
  parsed: Command,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  let stopping = false;
  const stop = untilAskedToStop().then(() => {
    stopping = true;
  });
  const speed = parseSpeed(asked.speed);
  const isGiven = (flag: string) => parsed.getOptionValueSource(flag) === 'cli';
  const flags = { ...asked, store: storeAtSpeed(speed, asked, isGiven) };
  const tempo = createTempo(speed);
  const view = new View({
    output: process.stdout,
    clock: tempo.clock,
    speed,
    colour: wantsColour(process.stdout),
  });
  const plan = await makePlan(flags, given, { tempo, view });
  const { embedded, cluster } = await startAll(flags, plan);
  tempo.start(() => cluster.rest(embedded.server));
  const hosts = await openStatusHost(cluster, plan);
  await cluster.start(embedded.server);
  const isRead = plan.selected.some(({ name }) => name === 'manifest-capture');
  await registerLocalReadApi(cluster.user, isRead);
  const first = greet(flags, plan, embedded);
  const stamp = (at: Instant) => view.timeline.stamp(at);
  const { isTTY, columns } = process.stdout;
  const week = isWeek(flags)
    ? new Week(cluster, {
        ...plan,
        stamp,
        say: view.say.bind(view),
        ...(isTTY ? { columns } : {}),
      })
    : undefined;
  if (week !== undefined) await week.play.open(() => stopping);
  else if (first) await applyExamples(cluster, view, () => stopping);
  if (first && !stopping && flags.store === 'sqlite') writeFileSync(marker(flags), '');
  tempo.hurry();
  week?.play.begin();
  view.follow(cluster);
  await stop;
  week?.play.stop();
  view.end();
  view.say(`\n${await (week?.summary() ?? cluster.summary(stamp))}\n`);
  await cluster.stop();
  await tempo.stop();
  await hosts.close();
  view.say(await close(embedded, flags));
  leave();
}

interface Plan extends LocalClusterOptions {
  readonly view: View;
}

/** Validates flags and builds the options. Throws a UsageError before anything is started. */
async function makePlan(
  flags: UpFlags,
  given: Readonly<Record<string, string>>,
  { tempo, view }: { tempo: Tempo; view: View },
): Promise<Plan> {
  const speed = parseSpeed(flags.speed);
  const seed = parseSeed(flags.seed);
  const known = joinFamilies(FAMILIES, await loadModules(flags.module ?? []));
  const defaults = { ...DEFAULTS, ...(isWeek(flags) ? WEEK_DEFAULTS : {}) };
  const sources = { flags: given, environment: process.env, defaults };
  const document = loadConfiguration(known, sources);
  const general = readGeneral(document);
  const all = known.map((family) => ({ ...family, defaultOn: true }));
  const selected = selectFamilies(all, general.controllers ?? ['*']);
  return {
    settings: renderSettings(loadConfiguration(FAMILIES, sources), selected),
    general,
    document,
    known: all,
    selected,
    simulatedControllers: explained('--simulated-controllers', () =>
      simulatedControllersNamed(flags.simulatedControllers.split(',')),
    ),
    externalKinds: STOCK_SNAPSHOT_KINDS,
    timeline: view.timeline,
    view,
    clock: tempo.clock,
    isPaced: tempo.clock !== realClock,
    blink: millis(speed === 1 ? 0 : BLINK * speed),
    random: tempo.clock === realClock ? systemRandom : seededRandom(seed),
    log: openLog(general),
  };
}

interface Started {
  readonly embedded: Embedded;
  readonly cluster: LocalCluster;
}

/** LocalCluster wraps the handler between API server and socket, so that it sees the caller of each write. */
async function startAll(flags: UpFlags, plan: Plan): Promise<Started> {
  const options = embeddedOptions(flags);
  let cluster: LocalCluster | undefined;
  const around = (handle: HttpHandler, token: string): HttpHandler => {
    cluster = new LocalCluster(handle, token, plan);
    return options.around?.(cluster.handle) ?? cluster.handle;
  };
  const services = { [LOCAL_READ_API]: readApiOf(plan, () => cluster!) };
  const embedded = await startEmbedded({ ...options, around, services, clock: plan.clock });
  return { embedded, cluster: cluster! };
}

/** The read API for checkpoints through the API server, as in a cluster. Created at the first call. */
function readApiOf({ clock, log, general }: Plan, of: () => LocalCluster): LocalService {
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

function openStatusHost({ assembly, user }: LocalCluster, { general, clock, log }: Plan): Promise<Hosts> {
  const { manager, registry } = assembly;
  const where = { inCluster: false, namespace: 'default' };
  return openHosts({ ...where, general, manager, registry, admission: [], clock, log, client: user });
}

/** Returns true if there are examples to apply. */
function greet(flags: UpFlags, plan: Plan, embedded: Embedded): boolean {
  const examples = flags.examples && isFirstStart(flags);
  const screen = firstScreen({
    url: embedded.listener.url,
    kubeconfig: embedded.kubeconfig,
    // At another speed, other commands do not know the time of the cluster.
    forecasts: parseSpeed(flags.speed) === 1,
    data: flags.data,
    store: flags.store,
    controllers: plan.selected.map(({ name }) => name),
    simulatedControllers: selectSimulatedControllers(flags.simulatedControllers.split(',')).map(
      ({ name }) => name,
    ),
    examples,
    week: isWeek(flags),
    colour: plan.view.isColourful,
  });
  plan.view.say(screen);
  return examples;
}

/** At any speed except 1 the examples run through a week. */
const isWeek = ({ speed, examples }: UpFlags): boolean => examples && parseSpeed(speed) !== 1;
const marker = ({ data }: ServerFlags): string => join(data, 'examples-applied');
const isFirstStart = (flags: ServerFlags): boolean => flags.store === 'memory' || !existsSync(marker(flags));

/** An example that the API server rejects is reported and does not prevent the others. */
async function applyExamples(cluster: LocalCluster, view: View, isOver: () => boolean): Promise<void> {
  for (const { name, text } of readExamples()) {
    if (isOver()) return;
    const problem = await applyWithRetries(cluster.user, text);
    if (problem !== undefined) view.say(`          examples/${name} was not applied: ${problem}\n`);
  }
}

async function close(embedded: Embedded, flags: ServerFlags): Promise<string> {
  const revision = embedded.server.revision();
  await embedded.close();
  const kept = flags.store === 'sqlite' ? 'the data is kept' : 'nothing was kept (memory store)';
  return `stopped at revision ${revision}; ${kept}\n`;
}

function helpText(): string {
  const width = process.stdout.columns ?? 80;
  const lists = [
    'Controllers:',
    ...namedRows(FAMILIES, width),
    '',
    'Simulated controllers:',
    ...namedRows(SIMULATED_CONTROLLERS, width),
  ];
  const examples = [
    '  lapse up                          real time; objects survive a restart',
    '  lapse up --speed 10080            the examples run through a week in a minute',
    '  lapse up --speed 60 --no-examples --controllers=ttl-after-finished',
  ];
  return ['', ...lists, '', 'Examples:', ...examples].join('\n');
}
