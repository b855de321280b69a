# What `cmake --install build` puts where. core/contract/resources.h says how the programs find their data again.

set(CMAKE_INSTALL_DOCDIR share/doc/mambarium CACHE PATH "Where README, CHANGELOG and LICENSE go")
include(GNUInstallDirs)
set(MAMBARIUM_APPLICATION_ID org.mambarium.mambarium)

set(MAMBARIUM_METAINFO ${CMAKE_BINARY_DIR}/generated/${MAMBARIUM_APPLICATION_ID}.metainfo.xml)
configure_file(resources/desktop/${MAMBARIUM_APPLICATION_ID}.metainfo.xml.in ${MAMBARIUM_METAINFO} @ONLY)

if(TARGET mambarium-worker)
  install(TARGETS mambarium-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET mambarium)
  install(TARGETS mambarium RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES resources/desktop/${MAMBARIUM_APPLICATION_ID}.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${MAMBARIUM_METAINFO} DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  set(icons ${CMAKE_INSTALL_DATADIR}/icons/hicolor)
  install(FILES resources/icons/mambarium.svg DESTINATION ${icons}/scalable/apps RENAME ${MAMBARIUM_APPLICATION_ID}.svg)
  foreach(size 16 24 32 48 64 128 256)
    install(FILES resources/icons/mambarium-${size}.png DESTINATION ${icons}/${size}x${size}/apps
            RENAME ${MAMBARIUM_APPLICATION_ID}.png)
  endforeach()
endif()
install(DIRECTORY resources/presets resources/reproduce resources/sweeps DESTINATION ${CMAKE_INSTALL_DATADIR}/mambarium)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
