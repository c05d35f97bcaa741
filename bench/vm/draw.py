# SPDX-License-Identifier: GPL-2.0
"""draw.py COUNT: draws COUNT times with OpenGL ES by ctypes, into a texture, and waits for each: a submit for each."""
import ctypes
import os
import sys

P, I, U, F = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_float
EGL, GL, GBM = (ctypes.CDLL(name) for name in ("libEGL.so.1", "libGLESv2.so.2", "libgbm.so.1"))


def call(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, [kind for kind, _ in arguments]
    return function(*[value for _, value in arguments])


def begin():
    device = call(GBM, "gbm_create_device", P, (I, os.open("/dev/dri/renderD128", os.O_RDWR)))
    platform_gbm = 0x31D7
    display = call(EGL, "eglGetPlatformDisplay", P, (U, platform_gbm), (P, device), (P, None))
    assert call(EGL, "eglInitialize", U, (P, display), (P, None), (P, None)), "eglInitialize"
    call(EGL, "eglBindAPI", U, (U, 0x30A0))  # OpenGL ES
    config, found = P(), I()
    wanted = (I * 5)(0x3033, 0, 0x3040, 4, 0x3038)  # no kind of surface, OpenGL ES 2
    assert call(EGL, "eglChooseConfig", U, (P, display), (P, wanted), (P, ctypes.byref(config)), (I, 1), (P, ctypes.byref(found)))
    context = call(EGL, "eglCreateContext", P, (P, display), (P, config), (P, None), (P, (I * 3)(0x3098, 2, 0x3038)))
    assert call(EGL, "eglMakeCurrent", U, (P, display), (P, None), (P, None), (P, context)), "eglMakeCurrent"


def make_target():
    texture_2d, framebuffer, rgba, byte = 0x0DE1, 0x8D40, 0x1908, 0x1401
    name = U()
    call(GL, "glGenTextures", None, (I, 1), (P, ctypes.byref(name)))
    call(GL, "glBindTexture", None, (U, texture_2d), (U, name))
    call(GL, "glTexImage2D", None, (U, texture_2d), (I, 0), (I, rgba), (I, 64), (I, 64), (I, 0), (U, rgba), (U, byte), (P, None))
    target = U()
    call(GL, "glGenFramebuffers", None, (I, 1), (P, ctypes.byref(target)))
    call(GL, "glBindFramebuffer", None, (U, framebuffer), (U, target))
    call(GL, "glFramebufferTexture2D", None, (U, framebuffer), (U, 0x8CE0), (U, texture_2d), (U, name), (I, 0))


def draw(i):
    call(GL, "glClearColor", None, (F, i % 2), (F, 0), (F, 0), (F, 1))
    call(GL, "glClear", None, (U, 0x4000))
    call(GL, "glFinish", None)


def main(count):
    begin()
    make_target()
    for i in range(count):
        draw(i)


main(int(sys.argv[1]))
