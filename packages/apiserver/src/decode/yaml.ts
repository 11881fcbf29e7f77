// YAML bodies, parsed like kubectl's YAML: version 1.1 scalars (yes, on), exact integers, one document, bounded
// depth.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { boundedYaml } from '@lapse/kube/api/yamlLimits';
import { isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { BodyError, type ParsedBody } from './parsedBody.ts';
import { describeYamlProblem } from './yamlProblem.ts';

const GO_DEPTH = 10_000;

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Throws BodyError with the message of the parser. */
export function parseYaml(text: string, maxDepth: number): ParsedBody {
  const depth = nesting(text);
  if (depth > GO_DEPTH) throw new BodyError(`yaml: exceeded max depth of ${GO_DEPTH}`);
  if (depth > maxDepth) throw new BodyError(`yaml: exceeded max depth of ${maxDepth}`);
  if (CONTROL.test(text)) throw new BodyError('yaml: control characters are not allowed');
  const lines = new LineCounter();
  const options = { version: '1.1', intAsBigInt: true, uniqueKeys: false, logLevel: 'silent' } as const;
  const document = withinStack(() => parseDocument(text, { ...options, lineCounter: lines }));
  if (document.errors.length > 0) throw new BodyError(describeYamlProblem(text, document.errors));
  let value: unknown;
  try {
    value = boundedYaml(document).toJS({ maxAliasCount: -1 });
  } catch (cause) {
    const [, anchor] = /^Unresolved alias.*: (.*)$/.exec(cause instanceof Error ? cause.message : '') ?? [];
    if (anchor !== undefined) throw new BodyError(`yaml: unknown anchor '${anchor}' referenced`);
    throw new BodyError('yaml: document contains excessive aliasing');
  }
  return { value: toJson(value, maxDepth) ?? {}, problems: repeatedKeys(document, lines) };
}

/** The parser is recursive: a document that overflows the stack exceeds any depth limit. */
function withinStack<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof RangeError) throw new BodyError(`yaml: exceeded max depth of ${GO_DEPTH}`);
    throw cause;
  }
}

type YamlDocument = ReturnType<typeof parseDocument>;

/** Duplicate keys of a map, with the messages of Go's decoder. */
function repeatedKeys(document: YamlDocument, lines: LineCounter): string[] {
  const found: string[] = [];
  visit(document, {
    Map(_, map) {
      if (!isMap(map)) return;
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name))
          found.push(`line ${lines.linePos(key.range?.[0] ?? 0).line}: key "${name}" already set in map`);
        seen.add(name);
      }
    },
  });
  return found.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${found.join('\n  ')}`];
}

/** An upper bound on the nesting depth of flow collections, computed without parsing. */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const ch of text) {
    if (ch === '[' || ch === '{') deepest = Math.max(deepest, ++depth);
    else if (ch === ']' || ch === '}') depth--;
  }
  return deepest;
}

function toJson(value: unknown, depth: number): Json {
  if (depth === 0) throw new BodyError('yaml: exceeded max depth');
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((v) => toJson(v, depth - 1));
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isObject(value)) {
    const out: JsonObject = {};
    for (const [k, v] of Object.entries(value)) setOwn(out, k, toJson(v, depth - 1));
    return out;
  }
  if (typeof value === 'object') return String(value);
  return value as Json;
}
