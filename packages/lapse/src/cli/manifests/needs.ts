// What each family needs from a cluster, determined by assembling it without one: CRDs, RBAC rules (per feature
// gate), webhooks. Manifests and the chart are generated from this only.

import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import type { AdmissionFunction } from '@lapse/kube/api/admission';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { anonymous } from '@lapse/kube/client/credentials';
import type { Transport } from '@lapse/kube/client/transport';
import { rightsOf } from '@lapse/runtime/definition';
import type { AdmissionPolicy, Family, Gate } from '#controllers/family';
import { type AssembledFamily, assemble } from '#manager/assemble';
import { readGeneral } from '#manager/configuration/general';
import { loadConfiguration } from '#manager/configuration/load';
import { type Rule, rulesOf } from '#manager/rbac';

export interface Hook {
  readonly name: string;
  readonly phase: AdmissionFunction['phase'];
  readonly resources: readonly { readonly group: string; readonly resource: string }[];
  /** Only with `actAs: author`. */
  readonly forAuthors: boolean;
}

export interface GateNeeds extends Omit<Gate, 'description'> {
  readonly rules: readonly Rule[];
  readonly policies: readonly AdmissionPolicy[];
}

export interface FamilyNeeds {
  readonly name: string;
  readonly description: string;
  readonly defaultOn: boolean;
  /** Names of CRDs. */
  readonly crds: readonly string[];
  /** Cluster-wide, with all gates disabled. */
  readonly rules: readonly Rule[];
  /** What each gate adds when enabled. */
  readonly gates: readonly GateNeeds[];
  /** Sections of its configuration that contain the location of the author key. */
  readonly authorSections: readonly string[];
  /** In the namespace of the process, with `actAs: author`. */
  readonly authorRules: readonly Rule[];
  /** In the namespace of the process, with any `actAs`. */
  readonly localRules: readonly Rule[];
  readonly webhooks: readonly Hook[];
}

/** Rejects every request: a family that contacts the cluster before it runs is a bug. */
const nowhere: Transport = {
  request: async () => {
    throw new Error('manifests are made without a cluster');
  },
} as unknown as Transport;

type Flags = Readonly<Record<string, string>>;

/** The family as `lapse run` would assemble it with this configuration. */
export function partsOf(
  family: Family,
  known: readonly Family[],
  flags: Flags,
  file?: JsonObject,
): AssembledFamily {
  const document = loadConfiguration(known, { flags, environment: {}, ...(file ? { defaults: file } : {}) });
  const { families } = assemble({
    connection: { transport: nowhere, leaseTransport: nowhere, credentials: anonymous, namespace: 'none' },
    general: readGeneral(document),
    document,
    known,
    selected: [family],
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    identity: 'lapse-manifests',
  });
  return families[0]!;
}

const clusterRules = ({ controllers }: AssembledFamily): Rule[] => rulesOf(controllers.flatMap(rightsOf));

/** `create` has a rule of its own: several families need it, and equal rules are granted once. */
const localRulesOf = ({ rights = [] }: AssembledFamily): Rule[] =>
  rulesOf(rights).flatMap((rule) => {
    const others = rule.verbs.filter((verb) => verb !== 'create');
    return others.length === 0 || others.length === rule.verbs.length
      ? [rule]
      : [
          { ...rule, verbs: ['create'] },
          { ...rule, verbs: others },
        ];
  });

const same = (a: Rule) => (b: Rule) => JSON.stringify(a) === JSON.stringify(b);

export function needsOf(family: Family, known: readonly Family[], file?: JsonObject): FamilyNeeds {
  const gatesWith = (open?: string) =>
    family.gates.map(({ name }) => `${name}=${name === open ? 'true' : 'false'}`).join();
  const made = (actAs: string, open?: string) => {
    const gates: Flags = family.gates.length === 0 ? {} : { 'feature-gates': gatesWith(open) };
    return partsOf(family, known, { ...gates, 'act-as': actAs }, file);
  };
  const author = made('author');
  const controller = made('controller');
  const rules = clusterRules(author);
  return {
    name: family.name,
    description: family.description,
    defaultOn: family.defaultOn,
    crds: family.kinds.map(({ crd }) => crd.metadata.name!).sort(),
    rules,
    gates: family.gates.map(({ name, stage, default: usual, policies = [] }) => ({
      name,
      stage,
      default: usual,
      rules: clusterRules(made('author', name)).filter((rule) => !rules.some(same(rule))),
      policies,
    })),
    authorSections: Object.entries(family.configuration)
      .filter(([, schema]) => isObject(schema.properties) && 'authorKeySecret' in schema.properties)
      .map(([section]) => section),
    authorRules: localRulesOf(author),
    localRules: localRulesOf(controller),
    webhooks: author.admission.map(({ name, phase, resources }) => ({
      name,
      phase,
      resources: resources.map(parseResource),
      forAuthors: !controller.admission.some((other) => other.name === name),
    })),
  };
}

function parseResource(name: string): { group: string; resource: string } {
  const [path = '', subresource] = name.split('/');
  const dot = path.indexOf('.');
  const resource = dot === -1 ? path : path.slice(0, dot);
  return {
    group: dot === -1 ? '' : path.slice(dot + 1),
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
  };
}
