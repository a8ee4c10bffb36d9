/* Hashes and sets: BLAKE2b-256 of contents, CRC-32 of records, sets of 64-bit keys. */

#include "journal.h"

static const uint64_t START[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};
static const uint8_t ORDER[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

#define TURN(x, n) ((x) >> (n) | (x) << (64 - (n)))
#define G(a, b, c, d, x, y)                                                \
    (a += b + (x), d = TURN(d ^ a, 32), c += d, b = TURN(b ^ c, 24),       \
     a += b + (y), d = TURN(d ^ a, 16), c += d, b = TURN(b ^ c, 63))

static void compress(struct blake *hash, const uint8_t *block, bool last) {
    uint64_t m[16], v[16];
    memcpy(m, block, 128);
    memcpy(v, hash->h, 64), memcpy(v + 8, START, 64);
    v[12] ^= hash->count;
    if (last) v[14] = ~v[14];
#pragma GCC unroll 12 /* with every index known beforehand it takes two thirds of the time */
    for (int i = 0; i < 12; i++) {
        const uint8_t *s = ORDER[i];
        G(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]), G(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
        G(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]), G(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
        G(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]), G(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
        G(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]), G(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++) hash->h[i] ^= v[i] ^ v[i + 8];
}

void blake_start(struct blake *hash) {
    memcpy(hash->h, START, 64);
    hash->h[0] ^= 0x01010000 ^ 32;
    hash->count = hash->held = 0;
}

void blake_add(struct blake *hash, const void *data, size_t length) {
    const uint8_t *at = data;
    while (length > 0) {
        if (hash->held == 128) hash->count += 128, compress(hash, hash->buffer, false), hash->held = 0;
        if (hash->held == 0)
            for (; length > 128; at += 128, length -= 128) hash->count += 128, compress(hash, at, false);
        size_t part = 128 - hash->held < length ? 128 - hash->held : length;
        memcpy(hash->buffer + hash->held, at, part);
        hash->held += part, at += part, length -= part;
    }
}

void blake_end(struct blake *hash, uint8_t out[32]) {
    hash->count += hash->held;
    memset(hash->buffer + hash->held, 0, 128 - hash->held);
    compress(hash, hash->buffer, true);
    memcpy(out, hash->h, 32);
}

/* Eight bytes at a time, each by a table of its own. */
uint32_t crc(uint32_t sum, const void *data, size_t length) {
    static uint32_t table[8][256];
    if (!table[0][1])
        for (uint32_t i = 0; i < 8 * 256; i++) {
            uint32_t value = i < 256 ? i : table[i / 256 - 1][i % 256];
            for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
            table[i / 256][i % 256] = value;
        }
    const uint8_t *at = data;
    sum = ~sum;
    for (; length >= 8; at += 8, length -= 8) {
        uint32_t low, high;
        memcpy(&low, at, 4), memcpy(&high, at + 4, 4), low ^= sum;
        sum = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
              table[3][high & 255] ^ table[2][high >> 8 & 255] ^ table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    for (; length--; at++) sum = table[0][(sum ^ *at) & 255] ^ sum >> 8;
    return ~sum;
}

uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = a * 0x9e3779b97f4a7c15 ^ (b + 0x7f4a7c15) * 0xbf58476d1ce4e5b9;
    x ^= x >> 31, x *= 0x94d049bb133111eb, x ^= x >> 29;
    return x ? x : 1;
}

uint64_t mix_text(const char *text, size_t length) {
    uint64_t sum = length, part;
    for (; length > 8; text += 8, length -= 8) memcpy(&part, text, 8), sum = mix(sum, part);
    part = 0, memcpy(&part, text, length);
    return mix(sum, part);
}

bool set_has(const struct set *set, uint64_t key) {
    if (!set->room) return false;
    for (size_t i = key & (set->room - 1); set->at[i]; i = (i + 1) & (set->room - 1))
        if (set->at[i] == key) return true;
    return false;
}

bool set_add(struct set *set, uint64_t key) {
    if (set->used * 4 >= set->room * 3) {
        struct set wider = {calloc(set->room ? set->room * 2 : 256, 8), set->room ? set->room * 2 : 256, 0};
        if (wider.at == NULL) return true; /* not remembered: kept once more */
        for (size_t i = 0; i < set->room; i++)
            if (set->at[i]) set_add(&wider, set->at[i]);
        free(set->at);
        *set = wider;
    }
    size_t i = key & (set->room - 1);
    for (; set->at[i]; i = (i + 1) & (set->room - 1))
        if (set->at[i] == key) return false;
    set->at[i] = key, set->used++;
    return true;
}
