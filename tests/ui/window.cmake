# fake_worker: speaks the protocol without a model, and misbehaves on request.
add_executable(fake_worker fake_worker.cpp)
target_link_libraries(fake_worker PRIVATE mambarium_contract mambarium_warnings)
set_target_properties(fake_worker PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

foreach(name session_test form_test window_test)
  mambarium_add_test(${name} SOURCES ${name}.cpp LIBRARIES mambarium_ui GUI)
  add_dependencies(${name} fake_worker)
  target_compile_definitions(${name} PRIVATE FAKE_WORKER="$<TARGET_FILE:fake_worker>")
endforeach()

if(TARGET mambarium-worker)
  mambarium_add_test(real_worker_test SOURCES real_worker_test.cpp LIBRARIES mambarium_ui GUI TIMEOUT 600)
  add_dependencies(real_worker_test mambarium-worker)
  target_compile_definitions(real_worker_test PRIVATE FAKE_WORKER="")
endif()
