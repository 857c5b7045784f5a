"""What compute scripts use of Foundation, objc and libdispatch, beside Metal."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from assay.metal import foundation, libdispatch, objc
from assay.metal.foundation import NSURL, NSData, NSMutableData, NSString


def test_strings_are_python_s_with_the_path_methods_of_cocoa() -> None:
    path = (
        NSString.alloc().initWithString_("/tmp/shaders").stringByAppendingPathComponent_("a.metal")
    )
    assert path == "/tmp/shaders/a.metal" and isinstance(path, str)
    assert path.lastPathComponent() == "a.metal" and path.pathExtension() == "metal"
    assert path.stringByDeletingLastPathComponent().lastPathComponent() == "shaders"
    assert path.stringByDeletingPathExtension().stringByAppendingPathExtension_("air") == (
        "/tmp/shaders/a.air"
    )
    assert (path.length(), path.UTF8String()) == (20, b"/tmp/shaders/a.metal")
    assert NSString.stringWithUTF8String_(b"x").stringByAppendingString_("y") == "xy"
    assert NSString("/a/../b").stringByStandardizingPath() == "/b"
    assert NSString("~/x").stringByExpandingTildeInPath() == str(Path.home() / "x")
    assert NSString.pathWithComponents_(["/", "a", "b"]) == "/a/b"


def test_urls_are_places_of_files(tmp_path: Path) -> None:
    file = tmp_path / "a kernel.metal"
    url = NSURL.fileURLWithPath_(str(tmp_path)).URLByAppendingPathComponent_("a kernel.metal")
    assert url.path() == str(file) and url.isFileURL()
    assert url.absoluteString() == f"file://{tmp_path}/a%20kernel.metal"
    assert NSURL.URLWithString_(url.absoluteString()) == url
    assert NSURL.URLWithString_("https://example.org/x") is None
    assert (url.lastPathComponent(), url.pathExtension()) == ("a kernel.metal", "metal")
    reachable, error = url.checkResourceIsReachableAndReturnError_(None)
    assert not reachable and error is not None and error.domain() == "NSCocoaErrorDomain"
    file.write_text("kernel")
    assert url.checkResourceIsReachableAndReturnError_(None) == (True, None)
    assert NSString.stringWithContentsOfURL_encoding_error_(url, 4, None) == ("kernel", None)
    assert url.URLByDeletingLastPathComponent() == NSURL.alloc().initFileURLWithPath_(str(tmp_path))


def test_files_that_cannot_be_read_give_an_error(tmp_path: Path) -> None:
    text, error = NSString.stringWithContentsOfFile_encoding_error_(tmp_path / "none", 4, None)
    assert text is None and error is not None
    assert error.code() == 260 and "none" in error.localizedDescription()
    (tmp_path / "latin").write_bytes(b"\xff")
    text, error = NSString.stringWithContentsOfFile_encoding_error_(tmp_path / "latin", 4, None)
    assert text is None and error is not None and error.code() == 261
    assert NSData.dataWithContentsOfFile_(str(tmp_path / "none")) is None


def test_data_are_bytes_that_metal_takes(tmp_path: Path) -> None:
    import assay.metal as Metal

    data = NSData.dataWithBytes_length_(np.arange(4, dtype=np.int32), 8)
    assert data.length() == 8 and bytes(data.bytes()) == data
    assert data.writeToFile_atomically_(str(tmp_path / "x"), True)
    assert NSData.dataWithContentsOfURL_(NSURL.fileURLWithPath_(tmp_path / "x")) == data
    assert not data.writeToFile_atomically_(str(tmp_path / "no" / "x"), True)
    more = NSMutableData.dataWithLength_(4)
    more.mutableBytes()[:2] = b"ab"
    more.appendBytes_length_(data, 1)
    assert (more.length(), bytes(more.bytes())) == (5, b"ab\0\0\0")
    device = Metal.MTLCreateSystemDefaultDevice()
    buffer = device.newBufferWithBytes_length_options_(data, 8, 0)
    assert bytes(buffer.contents().as_buffer(8)) == data


def test_collections_and_numbers_are_python_s() -> None:
    words = foundation.NSMutableDictionary.dictionaryWithObjects_forKeys_([1, 2], ["a", "b"])
    words.setObject_forKey_(3, "c")
    assert words == {"a": 1, "b": 2, "c": 3} and words.count() == 3
    assert words.objectForKey_("z") is None and words.allKeys() == ["a", "b", "c"]
    things = foundation.NSMutableArray.arrayWithArray_([1])
    things.addObject_(2)
    assert things == [1, 2] and things.count() == 2 and things.objectAtIndex_(1) == 2
    assert foundation.NSNumber.numberWithInt_(3) == 3
    assert foundation.NSMakeRange(2, 3) == (2, 3)


def test_pools_and_logs(capsys: pytest.CaptureFixture[str]) -> None:
    with objc.autorelease_pool():
        pool = foundation.NSAutoreleasePool.alloc().init()
        foundation.NSLog("%@ of %@", 1, "two")
        pool.drain()
    assert capsys.readouterr().err.endswith(" 1 of two\n")
    assert objc.nil is None and objc.lookUpClass("NSURL") is NSURL
    with pytest.raises(objc.nosuchclass_error, match="no class 'NSWindow'"):
        objc.lookUpClass("NSWindow")


def test_semaphores_of_libdispatch_wait_and_pass() -> None:
    semaphore = libdispatch.dispatch_semaphore_create(0)
    soon = libdispatch.dispatch_time(libdispatch.DISPATCH_TIME_NOW, 1_000_000)
    assert libdispatch.dispatch_semaphore_wait(semaphore, soon) != 0
    threading.Timer(0.01, libdispatch.dispatch_semaphore_signal, [semaphore]).start()
    assert libdispatch.dispatch_semaphore_wait(semaphore, libdispatch.DISPATCH_TIME_FOREVER) == 0


def test_data_that_is_no_compiled_library_is_refused_with_a_reason() -> None:
    import assay.metal as Metal

    device = Metal.MTLCreateSystemDefaultDevice()
    data = libdispatch.dispatch_data_create(b"MTLB....", 8, None, None)
    library, error = device.newLibraryWithData_error_(data, None)
    assert library is None and "damaged or truncated Metal library" in error.localizedDescription()


def test_addresses_are_refused_where_pyobjc_refuses_them() -> None:
    import assay.metal as Metal

    device = Metal.MTLCreateSystemDefaultDevice()
    array = np.zeros(4096, np.uint8)
    with pytest.raises(TypeError, match="the bytes are int"):
        device.newBufferWithBytesNoCopy_length_options_deallocator_(
            array.ctypes.data, 4096, Metal.MTLResourceStorageModeShared, None
        )


def test_listeners_take_a_dispatch_queue() -> None:
    import assay.metal as Metal

    queue = libdispatch.dispatch_queue_create(b"mine", libdispatch.DISPATCH_QUEUE_SERIAL)
    listener = Metal.MTLSharedEventListener.alloc().initWithDispatchQueue_(queue)
    event = Metal.MTLCreateSystemDefaultDevice().newSharedEvent()
    told = threading.Event()
    event.notifyListener_atValue_block_(listener, 3, lambda _event, _value: told.set())
    event.setSignaledValue_(3)
    assert told.wait(10)


@pytest.mark.parametrize("module", [foundation, objc, libdispatch])
def test_what_is_not_there_is_named_with_what_is(module: object) -> None:
    with pytest.raises(AttributeError, match=r"has no 'nothing'; it has "):
        _ = module.nothing  # type: ignore[attr-defined]
