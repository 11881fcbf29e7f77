// Reads a configuration file field by field. Every error names the file, the entry and the field.

import { getOwn, isObject, type Json, type JsonObject } from '#api/json';

/** A kubeconfig, or a file it refers to, is not usable. */
export class ConfigError extends Error {
  constructor(where: string, problem: string, cause?: unknown) {
    super(`${where}: ${problem}`, cause === undefined ? undefined : { cause });
    this.name = 'ConfigError';
  }
}

// YAML 1.1 booleans, which kubectl accepts.
const FLAGS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  y: true,
  false: false,
  no: false,
  off: false,
  n: false,
};

const nameOf = (value: Json): string =>
  Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'a map' : 'a text';

/** A map in a configuration file with its location: entry `/home/me/.kube/config: user "me"`, path `exec.env[0]`. */
export class Fields {
  readonly entry: string;
  readonly path: string;
  readonly #object: JsonObject;

  constructor(object: JsonObject, entry: string, path = '') {
    this.#object = object;
    this.entry = entry;
    this.path = path;
  }

  /** The location of this map, for messages. */
  get where(): string {
    return this.path === '' ? this.entry : `${this.entry}: ${this.path}`;
  }

  #inside(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  /** The location of a field, for messages. */
  at(name: string): string {
    return `${this.entry}: ${this.#inside(name)}`;
  }

  #value(name: string): Json | undefined {
    const value = getOwn(this.#object, name);
    return value === null || value === '' ? undefined : value;
  }

  #wrong(name: string, expected: string, value: Json): ConfigError {
    return new ConfigError(this.at(name), `must be ${expected}, not ${nameOf(value)}`);
  }

  /** Empty and null count as absent. Numbers and booleans are returned as text. */
  text(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'object') throw this.#wrong(name, 'a text', value);
    return String(value);
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new ConfigError(this.at(name), 'is missing');
    return value;
  }

  flag(name: string): boolean {
    const value = this.#value(name);
    if (value === undefined) return false;
    if (typeof value === 'boolean') return value;
    const known = typeof value === 'string' ? value.toLowerCase() : '';
    if (Object.hasOwn(FLAGS, known)) return FLAGS[known]!;
    throw new ConfigError(this.at(name), 'must be true or false');
  }

  map(name: string): Fields | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!isObject(value)) throw this.#wrong(name, 'a map', value);
    return new Fields(value, this.entry, this.#inside(name));
  }

  texts(name: string): string[] {
    const value = this.#value(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.#wrong(name, 'a list', value);
    return value.map((item, i) => {
      if (typeof item === 'object') throw this.#wrong(`${name}[${i}]`, 'a text', item);
      return String(item);
    });
  }

  maps(name: string): Fields[] {
    const value = this.#value(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.#wrong(name, 'a list', value);
    return value.map((item, i) => {
      if (!isObject(item)) throw this.#wrong(`${name}[${i}]`, 'a map', item);
      return new Fields(item, this.entry, this.#inside(`${name}[${i}]`));
    });
  }

  /** Names of all fields. */
  get names(): string[] {
    return Object.keys(this.#object);
  }

  /** The unconverted value. */
  json(name: string): Json | undefined {
    return getOwn(this.#object, name);
  }
}
