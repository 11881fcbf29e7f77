// The paths of one resource and its subresources, as the registry describes them.

import type { Resource, SubresourceInfo } from '../resources/resource.ts';
import { customName, meta } from './names.ts';
import type { GroupVersionKindRef, Operation } from './operations.ts';
import { DELETE, DELETE_COLLECTION, LIST, PATCH, WRITE } from './parameters.ts';

const JSON_YAML = ['application/json', 'application/yaml'];
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const BUILTIN_TYPES = ['application/json', PROTOBUF, 'application/yaml'];
const STREAM_TYPES = [
  'application/json',
  'application/json;stream=watch',
  PROTOBUF,
  `${PROTOBUF};stream=watch`,
  'application/yaml',
];
const PATCHES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
];
const STRATEGIC = 'application/strategic-merge-patch+json';

/** Finds the schema of a built-in kind. */
export type SchemaOf = (gvk: GroupVersionKindRef) => string;

export class ResourcePaths {
  readonly #resource: Resource;
  readonly #schemaOf: SchemaOf;
  readonly #names: OperationNames;
  /** Schemas that the operations use. */
  readonly schemas = new Set<string>();

  constructor(resource: Resource, schemaOf: SchemaOf) {
    this.#resource = resource;
    this.#schemaOf = schemaOf;
    this.#names = operationNames(resource);
  }

  /** All paths with their operations. */
  *paths(): Generator<[path: string, operations: Operation[]]> {
    const { namespaced, plural, group, version, custom } = this.#resource;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const place = namespaced ? `/namespaces/{namespace}/${plural}` : `/${plural}`;
    yield* some(`${root}${place}`, this.#collection());
    yield* some(`${root}${place}/{name}`, this.#named());
    if (namespaced) yield* some(`${root}/${plural}`, this.#everywhere());
    for (const sub of this.#resource.subresources) {
      yield* some(`${root}${place}/{name}/${sub.name}`, this.#subresource(sub));
    }
    if (!custom) yield* this.#watches(root, place);
  }

  *#watches(root: string, place: string): Generator<[string, Operation[]]> {
    const { namespaced, plural, kind } = this.#resource;
    const { scoped } = this.#names;
    yield* some(`${root}/watch${place}`, this.#watch('watchlist', `${scoped}${kind}List`));
    yield* some(`${root}/watch${place}/{name}`, this.#watch('watch', `${scoped}${kind}`));
    if (namespaced)
      yield* some(`${root}/watch/${plural}`, this.#watch('watchlist', `${kind}ListForAllNamespaces`));
  }

  #watch(action: string, name: string): Operation[] {
    if (!this.#resource.verbs.includes('watch')) return [];
    const response = { types: STREAM_TYPES, schema: this.#use(meta('WatchEvent')) };
    return [this.#operation('get', `watch${this.#names.version}${name}`, { action, query: LIST, response })];
  }

  #collection(): Operation[] {
    const { kind, verbs, custom } = this.#resource;
    const { version, scoped } = this.#names;
    const operations: Operation[] = [];
    if (verbs.includes('list')) operations.push(this.#list(`list${version}${scoped}${kind}`));
    if (verbs.includes('create'))
      operations.push(this.#create(`create${version}${scoped}${kind}`, this.#kind()));
    if (verbs.includes('deletecollection')) {
      operations.push(
        this.#operation('delete', `delete${version}Collection${scoped}${kind}`, {
          action: 'deletecollection',
          query: custom ? LIST : DELETE_COLLECTION,
          ...(custom ? {} : { body: this.#body(meta('DeleteOptions'), false) }),
          response: this.#response(meta('Status')),
        }),
      );
    }
    return operations;
  }

  #everywhere(): Operation[] {
    const { kind, verbs } = this.#resource;
    return verbs.includes('list') ? [this.#list(`list${this.#names.version}${kind}ForAllNamespaces`)] : [];
  }

  #list(id: string): Operation {
    const { custom } = this.#resource;
    const response = { types: custom ? JSON_YAML : STREAM_TYPES, schema: this.#use(this.#listSchema()) };
    return this.#operation('get', id, { action: 'list', query: LIST, response });
  }

  #create(id: string, schema: string, gvk?: GroupVersionKindRef): Operation {
    return this.#operation('post', id, {
      action: 'post',
      query: WRITE,
      body: this.#body(schema, true),
      codes: [200, 201, 202],
      response: this.#response(schema),
      ...(gvk ? { gvk } : {}),
    });
  }

  #named(): Operation[] {
    const { kind, verbs, strategy } = this.#resource;
    const name = `${this.#names.version}${this.#names.scoped}${kind}`;
    const operations = this.#readAndWrite(name, verbs, this.#kind());
    if (verbs.includes('delete')) {
      operations.push(
        this.#operation('delete', `delete${name}`, {
          action: 'delete',
          query: DELETE,
          body: this.#body(meta('DeleteOptions'), false),
          codes: [200, 202],
          response: this.#response(strategy.returnDeleted ? this.#kind() : meta('Status')),
        }),
      );
    }
    return operations;
  }

  #subresource(sub: SubresourceInfo): Operation[] {
    const { kind, custom, group, version } = this.#resource;
    const name = `${this.#names.version}${this.#names.scoped}${kind}${title(sub.name)}`;
    const gvk = { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind };
    const isOwn = gvk.group === group && gvk.version === version && gvk.kind === kind;
    const schema = isOwn ? this.#kind() : this.#schemaOf(gvk);
    // Operations of custom resources name the kind of the resource even where they return another one.
    const shown = custom ? undefined : gvk;
    const operations = this.#readAndWrite(name, sub.verbs, schema, shown);
    if (sub.verbs.includes('create')) operations.push(this.#create(`create${name}`, schema, shown));
    return operations;
  }

  #readAndWrite(
    name: string,
    verbs: readonly string[],
    schema: string,
    gvk?: GroupVersionKindRef,
  ): Operation[] {
    const { custom } = this.#resource;
    const response = this.#response(schema);
    const more = gvk ? { gvk } : {};
    const operations: Operation[] = [];
    if (verbs.includes('get')) {
      const query = custom ? ['resourceVersion'] : [];
      operations.push(this.#operation('get', `read${name}`, { action: 'get', query, response, ...more }));
    }
    if (verbs.includes('update')) {
      const body = this.#body(schema, true);
      const put = { action: 'put', query: WRITE, body, codes: [200, 201], response, ...more };
      operations.push(this.#operation('put', `replace${name}`, put));
    }
    if (verbs.includes('patch')) {
      const types = custom ? PATCHES : [...PATCHES, STRATEGIC];
      const body = { types, schema: this.#use(meta('Patch')), required: true };
      const patch = {
        action: 'patch',
        query: PATCH,
        body,
        codes: custom ? [200] : [200, 201],
        response,
        ...more,
      };
      operations.push(this.#operation('patch', `patch${name}`, patch));
    }
    return operations;
  }

  #operation(
    method: Operation['method'],
    id: string,
    rest: Omit<Operation, 'method' | 'id' | 'tag'>,
  ): Operation {
    const { group, version, kind } = this.#resource;
    return { method, id, tag: this.#names.tag, gvk: { group, version, kind }, ...rest };
  }

  #body(schema: string, required: boolean) {
    return { types: this.#resource.custom ? JSON_YAML : ['*/*'], schema: this.#use(schema), required };
  }

  #response(schema: string) {
    return { types: this.#resource.custom ? JSON_YAML : BUILTIN_TYPES, schema: this.#use(schema) };
  }

  #kind(): string {
    const { group, version, kind, custom } = this.#resource;
    return custom ? customName(group, version, kind) : this.#schemaOf(this.#resource);
  }

  #listSchema(): string {
    const { group, version, listKind, custom } = this.#resource;
    return custom ? customName(group, version, listKind) : this.#schemaOf({ group, version, kind: listKind });
  }

  #use(schema: string): string {
    this.schemas.add(schema);
    return schema;
  }
}

function* some(path: string, operations: Operation[]): Generator<[string, Operation[]]> {
  if (operations.length > 0) yield [path, operations];
}

interface OperationNames {
  /** `BatchV1`, `CoreV1`, `RbacAuthorizationV1`. */
  readonly version: string;
  /** `Namespaced` or empty. */
  readonly scoped: string;
  readonly tag: string;
}

function operationNames({ group, version, namespaced }: Resource): OperationNames {
  const name = groupName(group);
  return {
    version: `${title(name)}${title(version)}`,
    scoped: namespaced ? 'Namespaced' : '',
    tag: `${name}_${version}`,
  };
}

/** `core`, `batch`, `rbacAuthorization`, `zooExampleCom`. */
export function groupName(group: string): string {
  if (group === '') return 'core';
  const [first, ...rest] = group.replace(/\.k8s\.io$/, '').split('.');
  return [first!, ...rest.map(title)].join('');
}

export const title = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
