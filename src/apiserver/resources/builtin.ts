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
import { sharedTable, strategyFor } from '../strategies/strategies.ts';
import { builtinPrinter } from '../tables/builtin.ts';
import { type Codec, type Decoded, type Resource, type Strategy, storageName } from './resource.ts';

export function registerBuiltins(registry: Registry): void {
  for (const served of servedData().resources) {
    if (served.verbs.includes('list')) registry.add(builtinResource(served));
  }
}

export function builtinResource(served: ServedResource): Resource {
  const { group, version, kind } = served;
  const name = storageName(group, served.resource);
  const strategy = strategyFor(name);
  const selectable = fieldsOf(name);
  const shared = sharedTable(name);
  const structName = builtinTable().kinds[`${apiVersionOf(served)}/${kind}`];
  if (!structName)
    throw new Error(`the type table has no struct for ${apiVersionOf(served)} ${kind}: run npm run generate`);
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
    printer: builtinPrinter(name),
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
