// Who wrote an object, in a form that nobody can forge. The API server does not keep the author; admission sees them, and
// writes them into an annotation together with a signature over the author and what they asked for. The key is in a
// Secret of the operator's namespace. Later readers believe the annotation if the signature fits the object as it is:
// one that was made while no admission ran, edited, or copied to another object has no author.

import type { Json, JsonObject } from '#api/json';
import { getOwn, isObject } from '#api/json';
import { Secret } from '#api/kinds/builtin';
import type { KubeObject } from '#api/object';
import { decodeBase64, encodeBase64 } from '#base/codec';
import { hmac, isHmacOf } from '#base/hmac';
import type { Random } from '#base/random';
import type { Client } from '#client/client';
import type { Account, Subject } from './rights.ts';

export const AUTHOR_ANNOTATION = 'lapse.dev/author';
/** Written there by somebody who wants to answer for an object as it is; admission puts them down as its author. */
export const CLAIM = 'claim';

const KEY_FIELD = 'key';
const KEY_BYTES = 32;
/** Annotations of one object hold 256 KiB altogether. */
const MOST_TEXT = 64 * 1024;

/** What a signature speaks for: this object, by name, asking for this. Changing any of it needs a new author. */
export interface Signed {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The part of the object that the author answers for, without what defaulting adds. */
  readonly asked: Json;
}

export interface AuthorSealOptions {
  readonly client: Pick<Client, 'get' | 'create'>;
  readonly random: Random;
  /** The Secret with the key; made when it is not there. */
  readonly secret: Account;
}

export class AuthorSeal {
  readonly #options: AuthorSealOptions;
  #key: Promise<Uint8Array> | undefined;

  constructor(options: AuthorSealOptions) {
    this.#options = options;
  }

  /** The text of the annotation. */
  async seal(author: Subject, signed: Signed): Promise<string> {
    const { username, uid, groups = [], extra } = author;
    const who: JsonObject = {
      username,
      ...(uid === undefined ? {} : { uid }),
      groups: [...groups],
      ...(extra === undefined ? {} : { extra: extra as unknown as JsonObject }),
    };
    return canonical({ ...who, seal: hmac(await this.key(), signedText(who, signed)) });
  }

  /** The author of an object, if it has one that can be believed. */
  async authorOf(object: KubeObject, signed: Signed): Promise<Subject | undefined> {
    const text = object.metadata.annotations?.[AUTHOR_ANNOTATION];
    const parsed = text === undefined ? undefined : parseAuthor(text);
    if (parsed === undefined) return undefined;
    const { seal, ...who } = parsed;
    return isHmacOf(await this.key(), signedText(who, signed), seal)
      ? (who as unknown as Subject)
      : undefined;
  }

  /** Read once; a failure is not remembered. */
  key(): Promise<Uint8Array> {
    this.#key ??= this.#load().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  async #load(): Promise<Uint8Array> {
    const { client, random, secret } = this.#options;
    const found = await client.get(Secret, secret);
    if (found !== undefined) return keyFrom(found);
    const made: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...secret },
      type: 'Opaque',
      data: { [KEY_FIELD]: encodeBase64(random.bytes(KEY_BYTES)) },
    };
    const answer = await client.create(Secret, made);
    if (answer.kind === 'created') return keyFrom(answer.object);
    if (answer.kind === 'invalid') throw answer.error;
    // Another process was first: its key is the key.
    const theirs = await client.get(Secret, secret);
    if (theirs === undefined) throw answer.error;
    return keyFrom(theirs);
  }
}

function keyFrom({ data, metadata }: Secret): Uint8Array {
  const text = data?.[KEY_FIELD];
  const key = text === undefined ? undefined : decodeBase64(text);
  if (key === undefined || key.length < KEY_BYTES)
    throw new Error(
      `secret ${metadata.namespace}/${metadata.name} has no ${KEY_FIELD} of ${KEY_BYTES} bytes`,
    );
  return key;
}

const signedText = (who: JsonObject, { kind, namespace = '', name, asked }: Signed): string =>
  canonical(['lapse.dev/author/1', kind, namespace, name, asked, who]);

function parseAuthor(text: string): (JsonObject & { seal: string }) | undefined {
  if (text.length > MOST_TEXT) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(parsed) || typeof parsed['seal'] !== 'string') return undefined;
  const { username, groups } = parsed;
  const areTexts = Array.isArray(groups) && groups.every((group) => typeof group === 'string');
  if (typeof username !== 'string' || username === '' || !areTexts) return undefined;
  return parsed as JsonObject & { seal: string };
}

/** JSON with keys in order: equal values are equal texts. */
export function canonical(value: Json | undefined): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(getOwn(value, key))}`);
  return `{${fields.join(',')}}`;
}
