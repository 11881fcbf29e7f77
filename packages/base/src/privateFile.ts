// Files with credentials: readable by their owner only, written in one piece, and never through a symbolic link that
// another user may have created.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';

/** The file cannot hold a credential. The message names the file and the remedy. */
export class PrivateFileError extends Error {}

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
// Without O_NONBLOCK a FIFO would block the process.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Replaces the file. Fails if the existing file is not a regular file. */
export function writePrivate(file: string, text: string): void {
  rejectNonRegularFile(file);
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  const descriptor = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, OWNER_ONLY);
  try {
    try {
      writeFileSync(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  }
}

/** Reads the file and removes the permissions of other users. Fails if the file is empty. */
export function readPrivate(file: string): string {
  const descriptor = openNoFollow(file);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new PrivateFileError(`${file} is not a regular file`);
    if ((stats.mode & OTHERS) !== 0) fchmodSync(descriptor, OWNER_ONLY);
    const text = readFileSync(descriptor, 'utf8');
    if (text.trim() === '') throw new PrivateFileError(`${file} is empty; remove it to create a new one`);
    return text;
  } finally {
    closeSync(descriptor);
  }
}

function openNoFollow(file: string): number {
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ELOOP') throw linkError(file);
    throw cause;
  }
}

function rejectNonRegularFile(file: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  throw stats.isSymbolicLink() ? linkError(file) : new PrivateFileError(`${file} is not a regular file`);
}

const linkError = (file: string): PrivateFileError =>
  new PrivateFileError(`${file} is a symbolic link; name the file itself, or remove the link`);
