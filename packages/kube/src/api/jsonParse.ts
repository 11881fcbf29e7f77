// Parses JSON like the Kubernetes decoder (sigs.k8s.io/json): integers up to int64 are exact, duplicate keys are
// reported with their path, `__proto__` is an ordinary key, invalid UTF-8 becomes U+FFFD, and errors use Go's messages.
// One pass without recursion: deep nesting hits the depth limit, never the stack limit.

import type { Json, JsonObject } from './json.ts';
import { invalidCharacter, invalidInLiteral, JsonRangeError, rethrow, unexpectedEnd } from './jsonErrors.ts';
import { JsonNumbers } from './jsonNumber.ts';
import { decodeUtf8, JsonStrings } from './jsonText.ts';

export { JsonRangeError, JsonSyntaxError } from './jsonErrors.ts';

/** Go's limit. Callers that traverse values recursively should use a smaller one. */
export const MAX_JSON_DEPTH = 10_000;
/** Upstream also stops reporting duplicates at this number. */
const MAX_DUPLICATES = 100;

export interface ParseOptions {
  /** Maximum nesting depth. Default: MAX_JSON_DEPTH. */
  maxDepth?: number;
  /** Collect JsonNotes for decodeTyped. */
  notes?: boolean;
}

/** A repeated key. `before` is the number of keys read in its object before it. */
export interface DuplicateKey {
  key: string;
  before: number;
}

/**
 * Details that a typed decoder needs and the value does not contain. Keyed by the object or list that holds the key.
 */
export interface JsonNotes {
  /** Source text of numbers that are not plain int64 digits (`1.0`, `1e3`, `1.50`, 20 digits). */
  literals: Map<object, Map<string, string>>;
  duplicates: Map<object, DuplicateKey[]>;
}

export interface ParsedJson {
  value: Json;
  /**
   * Paths of keys that occur twice in one object (`spec.containers[0].name`), each listed once. The last value wins.
   */
  duplicates: string[];
  notes?: JsonNotes;
}

type Container = JsonObject | Json[];

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const END = -1;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Parses one JSON text. Throws JsonSyntaxError, or JsonRangeError for 1e999. */
export function parseJson(input: Uint8Array | string, options: ParseOptions = {}): ParsedJson {
  if (typeof input === 'string') return new Parser(input, options).parse();
  const text = decodeUtf8(input);
  return rethrow(input, text, () => new Parser(text, options).parse());
}

class Parser {
  readonly #text: string;
  readonly #strings: JsonStrings;
  readonly #numbers: JsonNumbers;
  readonly #maxDepth: number;
  readonly #notes: JsonNotes | undefined;
  readonly #duplicates = new Set<string>();
  readonly #repeated = new Map<object, Set<string>>();
  #at = 0;
  /** The first number that overflows float64. Later syntax errors take precedence. */
  #tooLarge: string | undefined;
  // The open object or list and the key of its next value; below, the same for the enclosing containers. The bottom
  // entry, undefined, is the top level.
  #container: Container | undefined;
  #key = '';
  readonly #containers: (Container | undefined)[] = [];
  readonly #keys: string[] = [];
  /** Number of keys of the open object, and of the enclosing ones. */
  #size = 0;
  readonly #sizes: number[] = [];

  constructor(text: string, options: ParseOptions) {
    this.#text = text;
    this.#strings = new JsonStrings(text);
    this.#numbers = new JsonNumbers(text);
    this.#maxDepth = options.maxDepth ?? MAX_JSON_DEPTH;
    this.#notes = options.notes ? { literals: new Map(), duplicates: new Map() } : undefined;
  }

  parse(): ParsedJson {
    const value = this.#value();
    if (this.#skipSpace() !== END) throw invalidCharacter(this.#text, this.#at, 'after top-level value');
    if (this.#tooLarge !== undefined) throw new JsonRangeError(this.#tooLarge);
    const duplicates = [...this.#duplicates];
    return this.#notes === undefined ? { value, duplicates } : { value, duplicates, notes: this.#notes };
  }

  #value(): Json {
    for (;;) {
      const code = this.#skipSpace();
      let value: Json;
      if (code === OPEN_OBJECT) {
        if (this.#openObject()) continue;
        value = {};
      } else if (code === OPEN_LIST) {
        if (this.#openList()) continue;
        value = [];
      } else value = this.#scalar(code);
      const document = this.#store(value);
      if (document !== undefined) return document;
    }
  }

  /** Stores a value and closes the containers that it completes. Returns the document if it is complete. */
  #store(value: Json): Json | undefined {
    for (;;) {
      const container = this.#container;
      if (container === undefined) return value;
      this.#attach(container, value);
      if (!this.#closes(container)) return undefined;
      value = container;
      this.#container = this.#containers.pop();
      this.#key = this.#keys.pop()!;
      this.#size = this.#sizes.pop()!;
    }
  }

  /** Enters an object and reads its first key. False if it is empty. */
  #openObject(): boolean {
    this.#enter();
    const code = this.#skipSpace();
    if (code === CLOSE_OBJECT) {
      this.#at++;
      return false;
    }
    this.#push({});
    this.#readKey(code);
    return true;
  }

  #openList(): boolean {
    this.#enter();
    if (this.#skipSpace() === CLOSE_LIST) {
      this.#at++;
      return false;
    }
    this.#push([]);
    return true;
  }

  #enter(): void {
    if (this.#containers.length >= this.#maxDepth)
      throw invalidCharacter(this.#text, this.#at, 'exceeded max depth');
    this.#at++;
  }

  #push(container: Container): void {
    this.#containers.push(this.#container);
    this.#keys.push(this.#key);
    this.#sizes.push(this.#size);
    this.#container = container;
    this.#size = 0;
  }

  #attach(container: Container, value: Json): void {
    if (Array.isArray(container)) container.push(value);
    else if (this.#key === '__proto__')
      Object.defineProperty(container, '__proto__', {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    else container[this.#key] = value;
  }

  /** After a value: true if its container ends here, false if another value follows. */
  #closes(container: Container): boolean {
    const code = this.#skipSpace();
    if (code === END) throw unexpectedEnd(this.#at);
    const list = Array.isArray(container);
    if (code === COMMA) {
      this.#at++;
      if (!list) this.#readKey(this.#skipSpace());
      return false;
    }
    if (code !== (list ? CLOSE_LIST : CLOSE_OBJECT))
      throw invalidCharacter(
        this.#text,
        this.#at,
        list ? 'after array element' : 'after object key:value pair',
      );
    this.#at++;
    return true;
  }

  #readKey(code: number): void {
    if (code !== QUOTE) {
      if (code === END) throw unexpectedEnd(this.#at);
      throw invalidCharacter(this.#text, this.#at, 'looking for beginning of object key string');
    }
    const key = this.#string();
    const next = this.#skipSpace();
    if (next !== COLON) {
      if (next === END) throw unexpectedEnd(this.#at);
      throw invalidCharacter(this.#text, this.#at, 'after object key');
    }
    this.#at++;
    this.#key = key;
    if (Object.hasOwn(this.#container!, key)) this.#duplicate(key);
    else this.#size++;
  }

  /** Reports a repeated key of an object once, up to the limit of upstream. */
  #duplicate(key: string): void {
    const container = this.#container as JsonObject;
    this.#notes?.literals.get(container)?.delete(key);
    const known = this.#repeated.get(container);
    if (this.#duplicates.size >= MAX_DUPLICATES || known?.has(key)) return;
    if (known === undefined) this.#repeated.set(container, new Set([key]));
    else known.add(key);
    if (this.#notes !== undefined) {
      const list = this.#notes.duplicates.get(container) ?? [];
      list.push({ key, before: this.#size });
      this.#notes.duplicates.set(container, list);
    }
    let path = '';
    for (let i = 1; i < this.#containers.length; i++) {
      const outer = this.#containers[i]!;
      if (Array.isArray(outer)) path += `[${outer.length}]`;
      else path += path === '' ? this.#keys[i] : `.${this.#keys[i]}`;
    }
    this.#duplicates.add(path === '' ? key : `${path}.${key}`);
  }

  #scalar(code: number): Json {
    if (code === QUOTE) return this.#string();
    if (code === MINUS || isDigit(code)) return this.#number();
    if (code === 116) return this.#word('true', true);
    if (code === 102) return this.#word('false', false);
    if (code === 110) return this.#word('null', null);
    if (code === END) throw unexpectedEnd(this.#at);
    throw invalidCharacter(this.#text, this.#at, 'looking for beginning of value');
  }

  #string(): string {
    const value = this.#strings.read(this.#at);
    this.#at = this.#strings.end;
    return value;
  }

  #word<T extends Json>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      if (this.#text[this.#at + i] !== word[i])
        throw invalidInLiteral(this.#text, this.#at + i, `in literal ${word} (expecting '${word[i]}')`);
    }
    this.#at += word.length;
    return value;
  }

  #number(): number | bigint {
    const numbers = this.#numbers;
    const value = numbers.read(this.#at);
    this.#at = numbers.end;
    if (numbers.spelling === '') return value;
    if (this.#notes !== undefined) this.#noteSpelling(this.#notes, numbers.spelling);
    else if (!Number.isFinite(Number(value))) this.#tooLarge ??= numbers.spelling;
    return value;
  }

  #noteSpelling(notes: JsonNotes, spelling: string): void {
    const container = this.#container;
    if (container === undefined) return;
    const held = notes.literals.get(container) ?? new Map<string, string>();
    held.set(Array.isArray(container) ? String(container.length) : this.#key, spelling);
    notes.literals.set(container, held);
  }

  /** Moves to the next character that is not white space. Returns its code, or END. */
  #skipSpace(): number {
    const text = this.#text;
    while (this.#at < text.length) {
      const code = text.charCodeAt(this.#at);
      if (code > 32 || (code !== 32 && code !== 10 && code !== 13 && code !== 9)) return code;
      this.#at++;
    }
    return END;
  }
}
