// Numbers in memory that are not real: what products take. Conversions round to nearest, ties to even.

#define FORMAT_DOUBLE 0
#define FORMAT_SINGLE 1
#define FORMAT_HALF 2
#define FORMAT_BRAIN 3
#define FORMAT_TF32 4

typedef unsigned short u16;
typedef unsigned int u32;

HERE u32 bits_of(float v) {
#ifdef __CUDACC__
    return __float_as_uint(v);
#else
    u32 bits;
    memcpy(&bits, &v, 4);
    return bits;
#endif
}

HERE float of_bits(u32 bits) {
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float v;
    memcpy(&v, &bits, 4);
    return v;
#endif
}

// The nearest number without the last `drop` binary digits.
HERE float without_digits(float v, int drop) {
    u32 bits = bits_of(v);
    if ((bits & 0x7f800000u) == 0x7f800000u) return v;
    return of_bits((bits + (((u32)1 << (drop - 1)) - 1) + ((bits >> drop) & 1)) >> drop << drop);
}

HERE float to_tf32(float v) { return without_digits(v, 13); }
HERE u16 to_brain(float v) { return (u16)(bits_of(v != v ? v : without_digits(v, 16)) >> 16); }
HERE float from_brain(u16 v) { return of_bits((u32)v << 16); }

#ifdef __CUDACC__
HERE u16 to_half(float v) {
    u16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
    return h;
}
HERE float from_half(u16 h) {
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(h));
    return v;
}
#else
HERE u16 to_half(float v) {
    u16 sign = (u16)(bits_of(v) >> 16 & 0x8000);
    float size = fabsf(v);
    if (size != size) return sign | 0x7e00;
    if (size >= 65520.0f) return sign | 0x7c00;
    if (size < 6.103515625e-5f) return sign | (u16)nearbyintf(size * 16777216.0f);
    u32 bits = bits_of(without_digits(size, 13));
    return sign | (u16)((bits >> 13) - (112 << 10));
}
HERE float from_half(u16 h) {
    float sign = h & 0x8000 ? -1.0f : 1.0f;
    u32 exponent = h >> 10 & 31, rest = h & 0x3ff;
    if (exponent == 31) return sign * (rest ? of_bits(0x7fc00000u) : of_bits(0x7f800000u));
    if (exponent == 0) return sign * (float)rest / 16777216.0f;
    return sign * of_bits((exponent + 112) << 23 | rest << 13);
}
#endif

// Four entries from i on, or `count` at an end.
struct Wide {
    double at[WIDE];
};

HERE double get(const void* p, i64 format, i64 i) {
    return format == FORMAT_DOUBLE ? ((const double*)p)[i]
         : format == FORMAT_HALF   ? (double)from_half(((const u16*)p)[i])
         : format == FORMAT_BRAIN  ? (double)from_brain(((const u16*)p)[i])
                                   : (double)((const float*)p)[i];
}

HERE void put(void* p, i64 format, i64 i, double v) {
    if (format == FORMAT_DOUBLE) ((double*)p)[i] = v;
    else if (format == FORMAT_HALF) ((u16*)p)[i] = to_half((float)v);
    else if (format == FORMAT_BRAIN) ((u16*)p)[i] = to_brain((float)v);
    else ((float*)p)[i] = format == FORMAT_TF32 ? to_tf32((float)v) : (float)v;
}

HERE Wide get_wide(const void* p, i64 format, i64 i, int count, bool aligned) {
    Wide v;
#ifdef __CUDACC__
    if (aligned && count == WIDE && format != FORMAT_DOUBLE) {
        if (format == FORMAT_SINGLE || format == FORMAT_TF32) {
            float4 all = *reinterpret_cast<const float4*>((const float*)p + i);
            v.at[0] = all.x, v.at[1] = all.y, v.at[2] = all.z, v.at[3] = all.w;
        } else {
            ushort4 all = *reinterpret_cast<const ushort4*>((const u16*)p + i);
            u16 at[WIDE] = {all.x, all.y, all.z, all.w};
#pragma unroll
            for (int k = 0; k < WIDE; k++) v.at[k] = format == FORMAT_HALF ? from_half(at[k]) : from_brain(at[k]);
        }
        return v;
    }
#endif
#pragma unroll
    for (int k = 0; k < WIDE; k++) v.at[k] = k < count ? get(p, format, i + k) : 0.0;
    return v;
}

HERE void put_wide(void* p, i64 format, i64 i, int count, bool aligned, const Wide& v) {
#ifdef __CUDACC__
    if (aligned && count == WIDE && format != FORMAT_DOUBLE) {
        float f[WIDE];
#pragma unroll
        for (int k = 0; k < WIDE; k++) f[k] = (float)v.at[k];
        if (format == FORMAT_SINGLE) {
            *reinterpret_cast<float4*>((float*)p + i) = make_float4(f[0], f[1], f[2], f[3]);
            return;
        }
        if (format == FORMAT_HALF) {
            *reinterpret_cast<ushort4*>((u16*)p + i) = make_ushort4(to_half(f[0]), to_half(f[1]), to_half(f[2]), to_half(f[3]));
            return;
        }
    }
#endif
#pragma unroll
    for (int k = 0; k < WIDE; k++)
        if (k < count) put(p, format, i + k, v.at[k]);
}

// The format of real.
#ifdef DOUBLE
#define FORMAT_REAL FORMAT_DOUBLE
#else
#define FORMAT_REAL FORMAT_SINGLE
#endif
