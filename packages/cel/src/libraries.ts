// The list of libraries, and the environments for Kubernetes rules and Lapse conditions.

import type { Library } from './declarations.ts';
import { Environment, type EnvironmentOptions } from './environment.ts';
import { KUBERNETES_AUTHZ } from './lib/kubernetes/authz.ts';
import { KUBERNETES_FORMAT } from './lib/kubernetes/formats.ts';
import { KUBERNETES_NET } from './lib/kubernetes/ip.ts';
import { KUBERNETES_LISTS } from './lib/kubernetes/lists.ts';
import { KUBERNETES_QUANTITY } from './lib/kubernetes/quantity.ts';
import { KUBERNETES_SEMVER } from './lib/kubernetes/semver.ts';
import { KUBERNETES_URL } from './lib/kubernetes/url.ts';
import { CLEANER_LISTS, LISTS, SETS } from './lib/lists.ts';
import { MATH } from './lib/math.ts';
import { OPTIONALS } from './lib/optionals.ts';
import { KUBERNETES_REGEX, REGEX } from './lib/regex.ts';
import { BINDINGS, BLOCK, ENCODERS, TWO_VARIABLES, WELL_KNOWN_TYPES } from './lib/small.ts';
import { CEL_GO_DIFFERENCES, STANDARD } from './lib/standard.ts';
import { stringsLibrary } from './lib/strings.ts';
import { TIME } from './timeName.ts';
import { type CelType, TIMESTAMP } from './types.ts';

const KUBERNETES: readonly Library[] = [
  KUBERNETES_LISTS,
  KUBERNETES_REGEX,
  KUBERNETES_URL,
  KUBERNETES_NET,
  KUBERNETES_QUANTITY,
  KUBERNETES_SEMVER,
  KUBERNETES_FORMAT,
];

const LANGUAGE: readonly Library[] = [
  STANDARD,
  WELL_KNOWN_TYPES,
  OPTIONALS,
  stringsLibrary('current'),
  MATH,
  ENCODERS,
  LISTS,
  SETS,
  REGEX,
  TWO_VARIABLES,
  BINDINGS,
  BLOCK,
];

/** All libraries, as the language defines them. */
export const ALL_LIBRARIES: readonly Library[] = [...LANGUAGE, CLEANER_LISTS, ...KUBERNETES];

const KUBERNETES_LIBRARIES: readonly Library[] = [
  CEL_GO_DIFFERENCES,
  STANDARD,
  WELL_KNOWN_TYPES,
  OPTIONALS,
  stringsLibrary('kubernetes'),
  SETS,
  LISTS,
  TWO_VARIABLES,
  ...KUBERNETES,
  KUBERNETES_AUTHZ,
];

type Given = Pick<EnvironmentOptions, 'variables' | 'provider'> & {
  /** Libraries in addition to those of Kubernetes. */
  readonly more?: readonly Library[];
};

/** The environment of CRD validation rules and admission policies in Kubernetes 1.36. */
export const kubernetesEnvironment = ({ more, ...given }: Given): Environment =>
  new Environment({
    ...given,
    libraries: more === undefined ? KUBERNETES_LIBRARIES : [...KUBERNETES_LIBRARIES, ...more],
    homogeneousLiterals: true,
    validateLiterals: true,
    repeatedKeys: 'last',
    workPerCost: 20,
    strictPresence: false,
    presenceTestCost: false,
    escapedIdentifiers: false,
  });

/**
 * The environment of conditions (Cleaner, TTL policies): all libraries, `time`, and the given variables. The limit on
 * patterns allows compiling them within the budget of one evaluation.
 */
export const conditionEnvironment = (variables: Readonly<Record<string, CelType>>): Environment =>
  new Environment({
    libraries: ALL_LIBRARIES,
    variables: { ...variables, [TIME]: TIMESTAMP },
    strictPresence: false,
    presenceTestCost: false,
    maxDepth: 100,
    maxPatternSize: 2000,
  });
