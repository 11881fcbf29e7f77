// The built-in kinds: discovery data + Go struct table + defaults + the strategy of the kind.

import type { JsonObject } from '#api/json';
import type { JsonNotes } from '#api/jsonParse';
import { apiVersionOf, asObject, type KubeObject } from '#api/object';
import { applyDefaults } from '#schema/defaults';
import { decodeMessage } from '#schema/protobuf';
import { decodeTyped } from '#schema/typed';
import { builtinTable, defaultsTable, type ServedResource, servedData } from '../data.ts';
import { withGvk } from '../decode.ts';
import type { Registry } from '../registry.ts';
import { fieldsOf } from '../strategies/fieldLabels.ts';
import { strategyFor } from '../strategies/strategies.ts';
import { builtinPrinter } from '../tables/builtin.ts';
import { type Codec, type Decoded, type Resource, type Strategy, storageName } from './resource.ts';

export function registerBuiltins(registry: Registry): void {
  for (const served of servedData().resources) {
    if (served.verbs.includes('list')) registry.add(builtinResource(served));
  }
}

export function builtinResource(served: ServedResource): Resource {
  const { group, version, kind } = served;
  const strategy = strategyFor(storageName(group, served.resource));
  const selectable = fieldsOf(storageName(group, served.resource));
  const structName = builtinTable().kinds[`${apiVersionOf(served)}/${kind}`];
  if (!structName)
    throw new Error(`the type table has no struct for ${apiVersionOf(served)} ${kind}: run npm run generate`);
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
    storage: storageName(group, served.resource),
    custom: false,
    codec: structCodec({ group, version, kind }, structName, strategy),
    strategy,
    fieldLabels: selectable.labels,
    fields: selectable.values,
    printer: builtinPrinter(storageName(group, served.resource)),
    patchType: structName,
  };
}

/** Bodies become the Go struct and back: unknown fields fall away, empty ones are left out, defaults come in. */
export function structCodec(
  gvk: { group: string; version: string; kind: string },
  structName: string,
  strategy: Strategy,
): Codec {
  const finish = (value: JsonObject, unknown: readonly string[]): Decoded => {
    applyDefaults(defaultsTable(), builtinTable(), structName, value);
    const object = withGvk(asObject(value), gvk);
    object.metadata ??= {};
    strategy.applyDefaults?.(object);
    return { object, problems: unknown.map((path) => `unknown field "${path}"`) };
  };
  return {
    decode(value: JsonObject, notes?: JsonNotes): Decoded {
      const typed = decodeTyped(builtinTable(), structName, value, notes);
      return finish(typed.value, typed.unknown);
    },
    decodeProtobuf: (message) => finish(decodeMessage(builtinTable(), structName, message), []),
    verbatim: () => true,
    show: (stored) => stored.object,
    toStorage: (object: KubeObject) => object,
  };
}
