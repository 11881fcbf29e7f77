// Structured logging: a constant message and variables as fields. JSON lines for machines, one readable line for
// terminals.

import type { Clock } from './clock.ts';
import { formatMicroTime } from './instant.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';
export type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  /** A logger that adds these fields to every line. */
  with(fields: Fields): Log;
}

export interface LogOptions {
  readonly clock: Clock;
  /** Receives one line at a time, newline included. */
  readonly write: (line: string) => void;
  /** The minimum level; lines below it are dropped. Default: `info`. */
  readonly level?: Level;
}

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error'];
const MAX_TEXT = 4096;

type Format = (time: string, level: Level, fields: Fields, message: string) => string;

function logWith(options: LogOptions, format: Format, fixed: Fields): Log {
  const least = LEVELS.indexOf(options.level ?? 'info');
  const at = (level: Level) => (fields: Fields, message: string) => {
    if (LEVELS.indexOf(level) < least) return;
    const time = `${formatMicroTime(options.clock.now()).slice(0, 23)}Z`;
    options.write(`${format(time, level, { ...fixed, ...fields }, message)}\n`);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => logWith(options, format, { ...fixed, ...fields }),
  };
}

/** Converts an error into a JSON value and truncates long texts. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) {
    const cause = value.cause === undefined ? {} : { cause: value.cause };
    return { name: value.name, message: value.message, stack: value.stack, ...cause };
  }
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value, plain) ?? 'null';
  } catch (error) {
    return JSON.stringify({ unloggable: String(error) });
  }
}

const jsonFormat: Format = (time, level, fields, message) => safeJson({ time, level, message, ...fields });

const prettyFormat: Format = (time, level, fields, message) => {
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${prettyValue(value)}`);
  return [time.slice(11, 23), level.toUpperCase().padEnd(5), message, ...shown].join(' ');
};

function prettyValue(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.message);
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return safeJson(value);
}

export const jsonLog = (options: LogOptions): Log => logWith(options, jsonFormat, {});
export const prettyLog = (options: LogOptions): Log => logWith(options, prettyFormat, {});

const nothing = () => {};
export const silentLog: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  with: () => silentLog,
};
