// Size limits. Base64 of MAX_CHUNK_BYTES has exactly the 1,048,576 characters that the schema of a chunk allows.

/** Gzip bytes in one chunk. */
export const MAX_CHUNK_BYTES = 786_432;

/**
 * Bytes of JSON in a chunk with several objects. It limits the memory of writers and readers when objects compress
 * well.
 */
export const MAX_CHUNK_JSON = 8 * 1024 * 1024;

/** Bytes of JSON in a chunk with a single object. No API server stores an object of nearly this size. */
export const MAX_OBJECT_JSON = 16 * 1024 * 1024;
