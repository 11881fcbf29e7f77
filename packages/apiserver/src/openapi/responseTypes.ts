// Types that occur only in responses of discovery, watches and /version, and not in the table of kinds.

import type { BuiltinField, BuiltinTable, BuiltinType } from '#schema/builtinTable';
import { meta } from './names.ts';

const required: BuiltinField = { t: 'string', req: true };
const optional: BuiltinField = { t: 'string', omit: true };
const strings: BuiltinField = { t: 'string', list: true };
const ATOMIC = { list: true, lt: 'atomic' } as const;
const TYPE_META = { kind: optional, apiVersion: optional };

const struct = (fields: Record<string, BuiltinField>): BuiltinType => ({ go: '', fields });

const ADDRESSES: BuiltinField = { t: meta('ServerAddressByClientCIDR'), ...ATOMIC };
const VERSION: BuiltinField = { t: meta('GroupVersionForDiscovery') };

const TYPES: Readonly<Record<string, BuiltinType>> = {
  [meta('APIVersions')]: struct({
    ...TYPE_META,
    versions: { ...strings, ...ATOMIC, req: true },
    serverAddressByClientCIDRs: { ...ADDRESSES, req: true },
  }),
  [meta('ServerAddressByClientCIDR')]: struct({ clientCIDR: required, serverAddress: required }),
  [meta('APIGroup')]: struct({
    ...TYPE_META,
    name: required,
    versions: { ...VERSION, ...ATOMIC, req: true },
    preferredVersion: VERSION,
    serverAddressByClientCIDRs: ADDRESSES,
  }),
  [meta('APIGroupList')]: struct({ ...TYPE_META, groups: { t: meta('APIGroup'), ...ATOMIC, req: true } }),
  [meta('GroupVersionForDiscovery')]: struct({ groupVersion: required, version: required }),
  [meta('APIResource')]: struct({
    name: required,
    singularName: required,
    namespaced: { t: 'bool', req: true },
    group: optional,
    version: optional,
    kind: required,
    verbs: { ...strings, req: true },
    shortNames: { ...strings, ...ATOMIC },
    categories: { ...strings, ...ATOMIC },
    storageVersionHash: optional,
  }),
  [meta('APIResourceList')]: struct({
    ...TYPE_META,
    groupVersion: required,
    resources: { t: meta('APIResource'), ...ATOMIC, req: true },
  }),
  [meta('WatchEvent')]: struct({ type: required, object: { t: 'RawExtension', req: true } }),
  'io.k8s.apimachinery.pkg.version.Info': struct({
    major: required,
    minor: required,
    emulationMajor: optional,
    emulationMinor: optional,
    minCompatibilityMajor: optional,
    minCompatibilityMinor: optional,
    gitVersion: required,
    gitCommit: required,
    gitTreeState: required,
    buildDate: required,
    goVersion: required,
    compiler: required,
    platform: required,
  }),
};

const KINDS = ['APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'];

/** The table of kinds with these types added. Every group has WatchEvents and DeleteOptions. */
export function withResponseTypes(table: BuiltinTable): BuiltinTable {
  const events = Object.keys(table.kinds)
    .filter((kind) => kind.endsWith('/DeleteOptions'))
    .map((kind) => [kind.replace(/DeleteOptions$/, 'WatchEvent'), meta('WatchEvent')]);
  return {
    ...table,
    kinds: {
      ...table.kinds,
      ...Object.fromEntries(KINDS.map((kind) => [`v1/${kind}`, meta(kind)])),
      ...Object.fromEntries(events),
    },
    types: { ...table.types, ...TYPES },
  };
}
