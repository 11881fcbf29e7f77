// Registers the built-in kinds: discovery data, Go struct table, defaults and strategy of each kind.

import { apiVersionOf } from '@lapse/kube/api/object';
import { isReview } from '../access/reviews.ts';
import { builtinTable, type ServedResource, servedData } from '../data/tables.ts';
import { fieldsOf } from '../strategies/fieldLabels.ts';
import { sharedTable, strategyFor } from '../strategies/strategies.ts';
import { builtinPrinter } from '../tables/builtin.ts';
import type { Registry } from './registry.ts';
import { type Resource, storageName } from './resource.ts';
import { structCodec } from './structCodec.ts';

export function registerBuiltins(registry: Registry): void {
  for (const served of servedData().resources) {
    if (isReview(storageName(served.group, served.resource)) || served.verbs.includes('list'))
      registry.add(builtinResource(served));
  }
}

export function builtinResource(served: ServedResource): Resource {
  const { group, version, kind } = served;
  const name = storageName(group, served.resource);
  const strategy = strategyFor(name, version);
  const selectable = fieldsOf(name);
  const shared = sharedTable(name, version);
  const structName = builtinTable().kinds[`${apiVersionOf(served)}/${kind}`];
  if (!structName)
    throw new Error(
      `no Go struct for ${apiVersionOf(served)} ${kind} in the built-in type table; run npm run generate`,
    );
  const codec = structCodec({ group, version, kind }, structName, strategy);
  return {
    group,
    version,
    plural: served.resource,
    singular: served.singular,
    kind,
    listKind: `${kind}List`,
    namespaced: served.namespaced,
    shortNames: served.shortNames,
    categories: served.categories,
    verbs: served.verbs,
    storageVersionHash: served.storageVersionHash ?? '',
    subresources: served.subresources,
    storage: shared?.storage ?? name,
    custom: false,
    codec: shared ? shared.codec(codec) : codec,
    strategy,
    fieldLabels: selectable.labels,
    fields: selectable.values,
    ...(selectable.unsupported ? { unsupportedField: selectable.unsupported } : {}),
    ...(shared ? { refusedAs: shared.refusedAs } : {}),
    ...(strategy.deprecation ? { warnings: [strategy.deprecation] } : {}),
    printer: builtinPrinter(name),
    patchType: structName,
  };
}
