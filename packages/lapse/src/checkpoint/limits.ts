// How much fits where. Base64 of MAX_CHUNK_BYTES is exactly the 1,048,576 characters that the schema of a chunk allows.

/** Of gzip bytes in one chunk. */
export const MAX_CHUNK_BYTES = 786_432;

/**
 * Of JSON in a chunk of several objects, in bytes: well-compressed objects stop here, so that neither who writes a chunk
 * nor who reads it ever holds more.
 */
export const MAX_CHUNK_JSON = 8 * 1024 * 1024;

/** Of JSON in a chunk of a single object. No API server stores an object that comes near it. */
export const MAX_OBJECT_JSON = 16 * 1024 * 1024;
