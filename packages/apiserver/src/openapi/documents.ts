// The OpenAPI v3 documents: one per group version, and small ones for the paths of discovery.

import type { JsonObject } from '@lapse/kube/api/json';
import { apiVersionOf } from '@lapse/kube/api/object';
import type { Core } from '../context.ts';
import { builtinTable, servedData } from '../data/tables.ts';
import type { Resource } from '../resources/resource.ts';
import { crdOf, customSchemas } from './customSchemas.ts';
import { meta } from './names.ts';
import { type GroupVersionKindRef, type Operation, pathItem } from './operations.ts';
import { groupName, ResourcePaths, title } from './resourcePaths.ts';
import { withResponseTypes } from './responseTypes.ts';
import { SchemaBuilder } from './schemas.ts';

const MEDIA_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml'];
const SECURITY = {
  BearerToken: {
    type: 'apiKey',
    description: 'Bearer Token authentication',
    name: 'authorization',
    in: 'header',
  },
};

let builder: SchemaBuilder | undefined;
const schemas = (): SchemaBuilder => (builder ??= new SchemaBuilder(withResponseTypes(builtinTable())));

/** The function that makes a document, and its inputs. */
export interface Source {
  readonly inputs: readonly unknown[];
  readonly make: () => JsonObject;
}

/** By name in the index: `api/v1`, `apis/batch/v1`, `version`. */
export function documentSources(core: Core): Map<string, Source> {
  const sources = new Map<string, Source>();
  const small = (name: string, schema: string, tag: string, id: string) =>
    sources.set(name, { inputs: [], make: () => smallDocument(`/${name}/`, schema, tag, id) });
  small('version', 'io.k8s.apimachinery.pkg.version.Info', 'version', 'getCodeVersion');
  small('api', meta('APIVersions'), 'core', 'getCoreAPIVersions');
  small('apis', meta('APIGroupList'), 'apis', 'getAPIVersions');
  for (const { group, versions } of core.registry.groups()) {
    const root = group === '' ? 'api' : `apis/${group}`;
    const custom = core.registry.isCustomGroup(group);
    if (group !== '' && !custom) {
      const tag = groupName(group);
      small(root, meta('APIGroup'), tag, `get${title(tag)}APIGroup`);
    }
    for (const version of versions) {
      const resources = core.registry.version(group, version)!;
      const crds = custom ? resources.map((resource) => crdOf(core, resource)) : [];
      const make = custom ? customDocument : builtinDocument;
      sources.set(`${root}/${version}`, {
        inputs: [...resources, ...crds],
        make: () => make(core, resources),
      });
    }
  }
  return sources;
}

function smallDocument(path: string, schema: string, tag: string, id: string): JsonObject {
  const types = path === '/version/' ? ['application/json'] : MEDIA_TYPES;
  const operation: Operation = { method: 'get', id, tag, response: { types, schema } };
  return {
    ...head({ [path]: pathItem(path, [operation]) }),
    components: {
      schemas: Object.fromEntries(schemas().collect([schema], 'v1')),
      securitySchemes: SECURITY,
    },
  };
}

function head(paths: JsonObject): JsonObject {
  const { major, minor } = servedData().version;
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: `${major}.${minor}` }, paths };
}

function builtinDocument(_core: Core, resources: readonly Resource[]): JsonObject {
  const [first] = resources;
  const { paths, used } = pathsOf(resources);
  const root = first!.group === '' ? `/api/${first!.version}/` : `/apis/${first!.group}/${first!.version}/`;
  const listed: Operation = {
    method: 'get',
    id: `get${title(groupName(first!.group))}${title(first!.version)}APIResources`,
    tag: `${groupName(first!.group)}_${first!.version}`,
    response: { types: MEDIA_TYPES, schema: meta('APIResourceList') },
  };
  used.add(meta('APIResourceList'));
  return {
    ...head({ [root]: pathItem(root, [listed]), ...paths }),
    components: {
      schemas: Object.fromEntries(schemas().collect(used, apiVersionOf(first!))),
      securitySchemes: SECURITY,
    },
  };
}

function customDocument(core: Core, resources: readonly Resource[]): JsonObject {
  const { paths, used } = pathsOf(resources);
  const own = new Map(resources.flatMap((resource) => [...customSchemas(core, resource)]));
  const builtins = [...used, meta('ObjectMeta'), meta('ListMeta')].filter((name) => !own.has(name));
  const all = [...own, ...schemas().collect(builtins, 'v1')].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' },
    paths,
    components: { schemas: Object.fromEntries(all) },
  };
}

function pathsOf(resources: readonly Resource[]): { paths: JsonObject; used: Set<string> } {
  const used = new Set<string>();
  const items: [string, JsonObject][] = [];
  for (const resource of resources) {
    const described = new ResourcePaths(resource, schemaOf);
    for (const [path, operations] of described.paths()) items.push([path, pathItem(path, operations)]);
    for (const schema of described.schemas) used.add(schema);
  }
  items.sort(([a], [b]) => (a < b ? -1 : 1));
  return { paths: Object.fromEntries(items), used };
}

function schemaOf(gvk: GroupVersionKindRef): string {
  const name = builtinTable().kinds[`${apiVersionOf(gvk)}/${gvk.kind}`];
  if (!name)
    throw new Error(
      `no Go struct for ${apiVersionOf(gvk)} ${gvk.kind} in the built-in type table; run npm run generate`,
    );
  return name;
}
